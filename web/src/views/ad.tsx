// ad.tsx: one ad: its text, what it matches now, and if nothing, why.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { adLayOut, attributeOf, cut } from '../adtext';
import { api, isGang, type AdText, type Explained, type Side } from '../api';
import { real } from '../format';
import { useLoad, useTitle } from '../hooks';
import { poolNews } from '../news';
import { adLink } from '../route';
import { Code, Section, Shown, Table } from '../ui';
import { GangTree } from './gang';
import { WhyView } from './why';

const SOME = 20, WHY_LEAST = 10_000;

const isRequest = (ad: AdText, why?: Explained): boolean =>
  why ? !('offer' in why) : attributeOf(ad.text, 'Ports') !== undefined || /^"job"$/i.test(cut(ad.text, attributeOf(ad.text, 'Type')?.value ?? { start: 0, end: 0 }));

/** For whoever would rather read it as `berth why` prints it. */
function AsText({ id }: { id: string }): JSX.Element {
  const [open, setOpen] = useState(false);
  const told = useLoad((signal) => api.adWhyText(id, signal), open ? id : null);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same as text</summary>
      {open ? <Shown of={told}>{(text) => <Code text={text} />}</Shown> : null}
    </details>
  );
}

function Candidates({ ad, kind }: { ad: AdText; kind: Side }): JSX.Element {
  const found = useLoad((signal) => api.match(ad.text, ad.type, kind, SOME, signal), ad.text);
  const one = kind === 'offer' ? 'Request' : 'Offer';
  return (
    <Section title="What it would match now" note={kind === 'offer' ? 'Of the requests that wait and that you may see, those first that it ranks highest. Nothing is taken by looking.' : 'Of what is free at the moment, the best first. Nothing is taken by looking.'}>
      <Shown of={found}>
        {(rows) => (
          <Table label="What it would match" rows={rows} id={(row) => `${row.Id} ${row.Label ?? ''} ${row.At ?? ''}`} empty="Nothing." columns={[
            { name: one, cell: (row) => <a href={adLink(row.Id)}>{row.Id}</a> },
            ...(rows.some((row) => row.Label) ? [{ name: 'Port', cell: (row: (typeof rows)[number]) => row.Label ?? '' }, { name: 'Docks at', cell: (row: (typeof rows)[number]) => (rows.some(({ Id }) => Id === row.At) ? row.At : 'the request') }]
              : [{ name: 'Rank', number: true, cell: (row: (typeof rows)[number]) => real(row.Rank ?? 0) }]),
          ]} />
        )}
      </Shown>
    </Section>
  );
}

function Given({ id }: { id: string }): JSX.Element | null {
  const given = useLoad((signal) => api.adMatches(id, signal), id, { of: poolNews, least: 5000 });
  if (given.error?.status === 403 || (given.value && !given.value.length)) return null;
  return (
    <Section title="Matches it was given">
      <Shown of={given}>
        {(rows) => (
          <Table label="Matches it was given" rows={rows.slice(0, SOME)} id={(row) => row.Claim} columns={[
            { name: 'Request', cell: (row) => (row.Request ? <a href={adLink(row.Request)}>{row.Request}</a> : '') },
            { name: 'Offer', cell: (row) => <a href={adLink(row.Offer)}>{row.Offer}</a> },
            ...(rows.some((row) => row.Port) ? [{ name: 'Port', cell: (row: (typeof rows)[number]) => row.Port ?? '' }] : []),
            { name: 'Provider', cell: (row) => row.Provider ?? '' },
            { name: 'Claim', cell: (row) => <code>{row.Claim}</code> },
          ]} />
        )}
      </Shown>
    </Section>
  );
}

export function AdView({ id }: { id: string }): JSX.Element {
  const ad = useLoad((signal) => api.ad(id, signal), id);
  const why = useLoad((signal) => api.adWhy(id, signal), id, { of: poolNews, least: WHY_LEAST });
  useTitle(`Ad ${id}`);
  return (
    <>
      <h1>Ad <span class="id">{id}</span></h1>
      <Shown of={ad}>
        {(text) => (
          <>
            <Section title="Explanation">
              <Shown of={why}>
                {(said) => (isGang(said) ? <GangTree why={said} ad={text} /> : <WhyView why={said} ad={text} name={id} />)}
              </Shown>
              {why.value ? <AsText id={id} /> : null}
            </Section>
            {why.value ? <Candidates ad={text} kind={isRequest(text, why.value) ? 'request' : 'offer'} /> : null}
            <Given id={id} />
            <Section title="The ad">
              <Code text={adLayOut(text.text)} />
            </Section>
          </>
        )}
      </Shown>
    </>
  );
}
