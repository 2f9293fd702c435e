// trial.tsx: an edited ad beside the one that is there: what it would match. Nothing in the pool is changed.
import type { JSX } from 'preact';
import { api, isGang, type Docked, type Explained, type Found, type Side } from '../api';
import { count, many } from '../format';
import { useLoad } from '../hooks';
import { adLink } from '../route';
import { Code, Shown, Tag } from '../ui';
import { cases, gangVerdicts, verdicts } from '../words';
import type { Part } from '../adtext';
import { DiedText } from './died';

function Verdict({ of }: { of: Explained }): JSX.Element {
  const good = of.verdict === 'matches';
  const words = isGang(of) ? gangVerdicts[of.verdict] : (of.case !== 'taken' && of.case && cases[of.case]) || verdicts[of.verdict];
  return <p class="verdict"><Tag tone={good ? 'good' : of.verdict === 'never' ? 'bad' : 'warn'}>{good ? 'matches' : of.verdict === 'never' ? 'never' : 'not now'}</Tag> {words ?? of.verdict}</p>;
}

function Members({ gang }: { gang: Docked }): JSX.Element {
  return <ul>{Object.entries(gang).map(([label, who]) => <li key={label}><strong>{label}</strong>: {who === null ? 'stays empty' : Array.isArray(who) ? who.join(', ') : <a href={adLink(who)}>{who}</a>}</li>)}</ul>;
}

function Told({ why, found = [] }: { why: Explained; found?: Found[] }): JSX.Element {
  if (isGang(why)) return (
    <>
      <Verdict of={why} />
      {why.gang ? <Members gang={why.gang} /> : why.died ? <DiedText died={why.died} where={<>at port <strong>{why.died.port}</strong></>} /> : null}
    </>
  );
  return (
    <>
      <Verdict of={why} />
      <p><strong>{count(why.matching)}</strong> of {many(why.offers, why.offer === undefined ? 'offer' : 'request')} {why.matching === 1 ? 'matches' : 'match'}.</p>
      {found.length ? <ol>{found.map((row) => <li key={row.Id}><a href={adLink(row.Id)}>{row.Id}</a></li>)}</ol> : null}
    </>
  );
}

export function Trial({ ad, type, kind, marks, before }: { ad: string; type: string; kind: Side; marks: Part[]; before: Explained }): JSX.Element {
  const after = useLoad(async (signal): Promise<[Explained, Found[]]> => {
    const why = await api.matchWhy(ad, type, kind, signal);
    return [why, isGang(why) ? [] : await api.match(ad, type, kind, 5, signal)];
  }, ad);
  return (
    <div class="trial">
      <div class="columns">
        <div class="card">
          <h4>As it is</h4>
          <Told why={before} />
        </div>
        <div class="card" aria-live="polite">
          <h4>With the edit</h4>
          <Shown of={after}>{([why, found]) => <Told why={why} found={found} />}</Shown>
        </div>
      </div>
      <p class="note">This was only tried: nothing in the pool has changed. The edited ad:</p>
      <Code text={ad} marks={marks} />
    </div>
  );
}
