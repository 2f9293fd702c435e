// audit.tsx: who has changed what: the log of the pool, for those who may read it, and those of the customers, of which everybody sees the own rows.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Audit } from '../api';
import { count, moment } from '../format';
import { useLoad, useTitle } from '../hooks';
import { poolNews } from '../news';
import { countIn, routeGo, routeLink, routeWith, type Route } from '../route';
import { scopeHas, session } from '../session';
import { useStore } from '../store';
import { Choice, Section, Shown, Table, Tag } from '../ui';

const MOST = 20000; // rows of an answer: more than a log keeps, unless it was set so
const PAGE = 100;
const DAY = 86400;
const spans: [string, string][] = [['1', 'A day'], ['7', 'A week'], ['30', '30 days'], ['all', 'All']];

/** What is asked for, in the language. A kind is that word, or all that begin so: tokens. */
function constraintOf(by: string, what: string, days: string): string {
  const clauses: string[] = [];
  if (by) clauses.push(`(By is ${JSON.stringify(by)} || About is ${JSON.stringify(by)})`);
  if (what) clauses.push(`(What is ${JSON.stringify(what)} || substr(What, 0, ${what.length + 1}) is ${JSON.stringify(`${what}.`)})`);
  if (days !== 'all') clauses.push(`Time >= ${Math.floor(Date.now() / 1000) - Number(days) * DAY}`);
  return clauses.join(' && ');
}

function Rows({ log, by, what, days, most }: { log: string; by: string; what: string; days: string; most: number }): JSX.Element {
  const found = useLoad((signal) => api.audit(log === 'pool' ? undefined : log, { constraint: constraintOf(by, what, days), limit: MOST }, signal), JSON.stringify([log, by, what, days]), { of: poolNews, least: 10000 });
  return (
    <Shown of={found}>
      {({ rows, cursor }) => (
        <>
          <Table label="Changes" rows={rows.slice(-most).reverse()} id={(row) => String(row.Number)} empty={by || what || days !== 'all' ? 'Nothing of that was changed.' : 'What people change stands here: tokens, users, shares and the policy of the pool; jobs at a customer. Nothing was changed yet.'} columns={[
            { name: 'When', cell: (row: Audit) => <span class="moment">{moment(row.Last ?? row.Time)}</span> },
            { name: 'By', cell: (row) => row.By || <span class="quiet">nobody who was proved</span> },
            { name: 'What', cell: (row) => row.What || <span class="quiet">more of it</span> },
            { name: 'About', cell: (row) => row.About },
            { name: 'From', cell: (row) => <>{row.From ?? ''}{row.Via ? <small class="under" title={row.Via}>{viaCut(row.Via)}</small> : null}</> },
            { name: 'Result', cell: (row) => <Tag tone={row.Result === 'done' ? 'good' : 'warn'}>{row.Result}</Tag> },
            { name: 'Times', number: true, cell: (row) => count(row.Count) },
            { name: 'Detail', cell: (row) => row.Detail ?? '' },
          ]} />
          {rows.length > most ? <button type="button" onClick={() => routeGo(routeWith({ more: String(most + PAGE) }))}>Show older ones</button> : null}
          {cursor ? <p class="note">There is more than can be shown: ask for less.</p> : null}
        </>
      )}
    </Shown>
  );
}

/** By what the caller was proved; of a token's long id the beginning will do, the rest is said where one points. */
const viaCut = (via: string): string => via.replace(/\b([0-9a-f]{8})[0-9a-f]{8,}\b/, '$1…');

export function AuditView({ query }: { query: Route['query'] }): JSX.Element {
  const who = useStore(session), reads = ['admin', 'operate', 'audit'].some((scope) => scopeHas(who, scope) !== false);
  const desks = useLoad((signal) => api.desks(signal).catch(() => []), 'desks', { of: poolNews, least: 10000 });
  const logs: [string, string][] = [...(reads ? [['pool', 'The pool'] as [string, string]] : []), ...(desks.value ?? []).map((desk): [string, string] => [desk.Agent, desk.Name || desk.Agent])];
  const by = query.get('by') ?? '', what = query.get('what') ?? '', days = query.get('days') ?? '7', log = query.get('log') || logs[0]?.[0] || '';
  const [person, setPerson] = useState(by), [kind, setKind] = useState(what);
  const go = (next: Record<string, string>): void => routeGo(routeLink(['audit'], { log, by, what, days, ...next }));
  useTitle('Changes');
  return (
    <>
      <h1>Changes</h1>
      <div class="row">
        {logs.length > 1 ? <Choice label="Log" of={logs} value={log} pick={(next) => go({ log: next })} /> : null}
        <Choice label="Since" of={spans} value={days} pick={(next) => go({ days: next })} />
      </div>
      <form class="row" onSubmit={(event) => { event.preventDefault(); go({ by: person.trim(), what: kind.trim() }); }}>
        <label>Person{' '}<input type="text" value={person} onInput={(event) => setPerson(event.currentTarget.value)} /></label>
        <label>Kind{' '}<input type="text" value={kind} size={24} placeholder="tokens, users, jobs.remove" onInput={(event) => setKind(event.currentTarget.value)} /></label>
        <button type="submit" class="main">Find</button>
      </form>
      <Section title="Who has changed what" note="The newest first. The log of the pool is for administrators, operators and accountants; of what was done to jobs everybody sees what was done by themselves.">
        {log ? <Rows log={log} by={by} what={what} days={days} most={countIn(query, 'more', PAGE)} /> : <p class="quiet">There is no log that you may read.</p>}
      </Section>
    </>
  );
}
