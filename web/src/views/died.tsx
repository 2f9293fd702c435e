// died.tsx: where the search for a gang ended, and what the clauses of others looked at.
import type { JSX } from 'preact';
import type { Died, Read } from '../api';
import { count, many } from '../format';
import { adLink } from '../route';

export const whoAll = (who: string | null | string[] | undefined): string[] => (who === null || who === undefined ? [] : Array.isArray(who) ? who : [who]);

export function Who({ who }: { who: string[] }): JSX.Element {
  return <>{who.map((name, i) => <>{i ? ', ' : ''}<a key={name} href={adLink(name)}>{name}</a></>)}</>;
}

export function Reads({ reads }: { reads: Read[] }): JSX.Element {
  if (!reads.length) return <>its own state refuses</>;
  return <>{reads.map(({ name, value }, i) => <>{i ? ', ' : ''}<code key={name}>{name}</code> is {value === null ? 'missing' : <code>{value}</code>}</>)}</>;
}

function outcomeText(died: Died): string {
  const fit = died.fitting ? `${many(died.fitting, 'offer fits', 'offers fit')}${died.refusing ? `; ${died.refusing === died.fitting ? (died.refusing === 1 ? 'it refuses' : 'all refuse') : `${count(died.refusing)} refuse`}` : ''}.` : '';
  return died.taken ? `${fit} ${many(died.taken, 'that would fit is', 'that would fit are')} in the gang already.` : fit;
}

export function DiedText({ died, where }: { died: Died; where: JSX.Element }): JSX.Element {
  const docked = Object.entries(died.docked).filter(([, who]) => whoAll(who).length);
  return (
    <div class="died">
      <p>
        The search ended {where}{docked.length ? <>, with {docked.map(([label, who], i) => <>{i ? ', ' : ''}<code key={label}>{label}</code> = <Who who={whoAll(who)} /></>)}</> : null}.{' '}
        {died.fitting === 0 && died.clause ? <><code>{died.clause}</code> is true of nobody who is left.{died.means ? <> With what is docked it comes to <code>{died.means}</code>.</> : null}</> : null}
        {outcomeText(died)}
      </p>
      {died.refusals.length ? <ul class="reasons">{died.refusals.map((refusal) => <li key={refusal.clause}><a href={adLink(refusal.first)}>{refusal.first}</a>{refusal.offers > 1 ? ` and ${count(refusal.offers - 1)} more` : ''}: <code>{refusal.clause}</code>; <Reads reads={refusal.reads} />.</li>)}</ul> : null}
      {died.denied ? <p>{many(died.denied.offers, 'offer is', 'offers are')} not wanted by {died.denied.of ?? 'the request'}: <code>{died.denied.clause}</code>.</p> : null}
      {died.empty ? <p>It could stay as it is, but {died.empty.of ?? 'the request'} says <code>{died.empty.clause}</code>.</p> : null}
    </div>
  );
}
