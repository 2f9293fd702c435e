// ads.tsx: ads found by a constraint in the language.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, type Ad, type Eval, type OutcomeWord } from '../api';
import { Editor, type Fault } from '../editor';
import { inCell } from '../format';
import { useLoad, useQuiet, useTitle } from '../hooks';
import { adLink, routeGo, routeLink, type Route } from '../route';
import { Choice, Pager, Problem, Section, Shown, Table, usePaging } from '../ui';
import { outcomes } from '../words';

const PAGE = 50;
const kinds: [string, string][] = [['', 'All'], ['offers', 'Offers'], ['requests', 'Requests']];
const words = new Set(['true', 'false', 'undefined', 'error', 'is', 'isnt', 'self', 'other', 'my', 'target']);

/** Names that a constraint speaks of: they become columns. */
function namesIn(constraint: string): string[] {
  const bare = constraint.replace(/"(?:[^"\\]|\\.)*"|'[^']*'/g, ' ');
  const names = [...bare.matchAll(/(?<![\w.])([A-Za-z_]\w*)(?![\w]|\s*\()/g)].map((found) => found[1]!);
  const seen = new Map(names.filter((name) => !words.has(name.toLowerCase())).map((name) => [name.toLowerCase(), name]));
  return [...seen.values()].slice(0, 4);
}

const find = (ad: Ad, name: string): Ad[string] | undefined => {
  const key = Object.keys(ad).find((other) => other.toLowerCase() === name.toLowerCase());
  return key === undefined ? undefined : ad[key];
};

/** The server says where an expression cannot be read; without the scope for that it is found when one asks. */
function useFault(text: string): Fault | null {
  const quiet = useQuiet(text, 250);
  const checked = useLoad(
    async (signal) => {
      if (!quiet.trim()) return null;
      const said = await api.evaluate('', '', quiet, 'classic', signal).catch((): Eval => ({}));
      return said.ExpressionError ? { line: said.ExpressionLine ?? 1, column: said.ExpressionColumn ?? 1, text: said.ExpressionError } : null;
    },
    `check ${quiet}`,
  );
  return quiet === text ? checked.value ?? null : null;
}

export function AdsView({ query }: { query: Route['query'] }): JSX.Element {
  const constraint = query.get('constraint') ?? '', kind = query.get('kind') ?? '', outcome = query.get('outcome') ?? '';
  const [text, setText] = useState(constraint);
  const checked = useFault(text);
  useEffect(() => setText(constraint), [constraint]);
  useTitle('Ads');
  const key = JSON.stringify([constraint, kind, outcome]), paging = usePaging(key);
  const extra = namesIn(constraint).filter((name) => !['name', 'type', 'owner', 'adid'].includes(name.toLowerCase()));
  const found = useLoad(
    (signal) => api.ads({ constraint, kind, outcome, limit: PAGE, cursor: paging.cursor, select: ['AdId', 'Name', 'Type', 'Owner', 'Count', ...extra].join(',') }, signal),
    `${key} ${paging.cursor ?? ''}`,
  );
  const able = useLoad((signal) => api.listsOutcomes(signal), outcome ? 'outcomes' : null);
  const go = (next: { constraint?: string; kind?: string; outcome?: string }): void => {
    const link = routeLink(['ads'], { constraint, kind, outcome, ...next });
    if (link === location.hash) found.again();
    else routeGo(link);
  };
  const place = found.error?.status === 400 && text === constraint ? found.error.place : null;
  const fault = checked ?? (place ? { ...place, text: found.error!.detail.replace(/^constraint: \d+:\d+: /, '') } : null);
  const label = outcomes[outcome as OutcomeWord];
  return (
    <>
      <h1>Ads</h1>
      <form class="search" onSubmit={(event) => { event.preventDefault(); go({ constraint: text }); }}>
        <Editor label="Constraint" single value={text} change={setText} fault={fault} enter={() => go({ constraint: text })} kind={() => kind || undefined} />
        <button type="submit" class="main">Find</button>
      </form>
      <div class="row">
        <Choice label="Kind" of={kinds} value={kind} pick={(next) => go({ kind: next, outcome: next === 'requests' ? outcome : '' })} />
        {label ? <button type="button" class="chip" onClick={() => go({ outcome: '' })} aria-label={`Only: ${label.name}. Show all`}>{label.name} ✕</button> : null}
      </div>
      <p class="note">An expression that is true of the ads you want, such as <code>Type == "Machine" &amp;&amp; Memory &gt;= 16G</code>; empty: all. Requests of others are shown to administrators alone.</p>
      {label && able.value === false ? <p class="problem" role="alert">This matchmaker cannot list requests by what became of them: these are all requests.</p> : null}
      {fault && found.error?.status === 400 ? null : <Problem error={found.error} />}
      <Section title="Found">
        <Shown of={{ ...found, error: undefined }}>
          {({ rows, cursor }) => (
            <>
              <Table label="Ads" rows={rows} id={(ad) => String(ad.AdId)} empty="No ad fits." columns={[
                { name: 'Id', cell: (ad) => <a href={adLink(String(ad.AdId))}>{String(ad.AdId)}</a> },
                { name: 'Name', cell: (ad) => inCell(find(ad, 'Name')) },
                { name: 'Type', cell: (ad) => inCell(find(ad, 'Type')) },
                { name: 'Owner', cell: (ad) => inCell(find(ad, 'Owner')) },
                ...(rows.some((ad) => find(ad, 'Count') !== undefined) ? [{ name: 'Count', number: true, cell: (ad: Ad) => inCell(find(ad, 'Count') ?? 1) }] : []),
                ...extra.map((name) => ({ name, number: rows.some((ad) => typeof find(ad, name) === 'number'), cell: (ad: Ad) => inCell(find(ad, name)) })),
              ]} />
              <Pager paging={paging} cursor={cursor} />
            </>
          )}
        </Shown>
      </Section>
    </>
  );
}
