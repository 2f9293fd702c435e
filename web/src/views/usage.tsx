// usage.tsx: what was used of the pool: by month, user, group or machine, as `berth usage` tells it. It is a record, and decides nothing.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Used } from '../api';
import { bytes, count, span } from '../format';
import { useLoad, useTitle } from '../hooks';
import { routeGo, routeLink, type Route } from '../route';
import { scopeHas, session } from '../session';
import { useStore } from '../store';
import { Choice, type Column, Pager, Section, Shown, Table, usePaging } from '../ui';

const PAGE = 25;
const names: [string, string][] = [['month', 'Month'], ['user', 'User'], ['group', 'Group'], ['machine', 'Machine']];

const month: Column<Used> = { name: 'Month', cell: (row) => row.Month ?? '' };
const whose: Record<string, Column<Used>> = {
  user: { name: 'User', cell: (row) => row.User ?? '' },
  group: { name: 'Group', cell: (row) => (row.Group === '<none>' ? 'outside of groups' : (row.Group ?? '')) },
  machine: { name: 'Machine', cell: (row) => row.Machine ?? '' },
};
const amounts: Column<Used>[] = [
  { name: 'Claims', number: true, cell: (row) => count(row.Claims) },
  { name: 'Jobs', number: true, cell: (row) => count(row.Jobs) },
  { name: 'Wall', number: true, cell: (row) => span(row.Wall) },
  { name: 'Processor', number: true, cell: (row) => span(row.Cpu) },
  { name: 'Normalised', number: true, cell: (row) => span(row.Normalised) },
  { name: 'Processors held', number: true, cell: (row) => span(row.CpusHeld) },
  { name: 'GPUs held', number: true, cell: (row) => span(row.GpusHeld) },
  { name: 'Memory', number: true, cell: (row) => bytes(row.Memory) },
  { name: 'Bytes in', number: true, cell: (row) => bytes(row.BytesIn) },
  { name: 'Bytes out', number: true, cell: (row) => bytes(row.BytesOut) },
];

interface Asked { by: string; months: boolean; since: string; until: string; user: string; group: string }

function Rows({ of }: { of: Asked }): JSX.Element {
  const key = JSON.stringify(of), paging = usePaging(key), byMonth = of.by === 'month' || of.months;
  const by = of.by !== 'month' && of.months ? `${of.by},month` : of.by;
  const query = { by, since: of.since || undefined, until: of.until || undefined, user: of.user || undefined, group: of.group || undefined, limit: PAGE, cursor: paging.cursor };
  const used = useLoad((signal) => api.usage(query, signal), `${key} ${paging.cursor ?? ''}`);
  const columns = [...(byMonth ? [month] : []), ...(whose[of.by] ? [whose[of.by]!] : []), ...amounts];
  return (
    <Shown of={used}>
      {({ rows, cursor }) => (
        <>
          <Table label="What was used" rows={rows} id={(row) => `${row.Month ?? ''} ${row.User ?? row.Group ?? row.Machine ?? ''}`} empty={of.since || of.until || of.user || of.group || paging.page ? 'Nothing of that was used.' : <>What jobs have used is added up here, once they have given back what they had. Nothing was used yet. <a href="#/submit">Submit a job</a></>} columns={columns} />
          <Pager paging={paging} cursor={cursor} />
        </>
      )}
    </Shown>
  );
}

export function UsageView({ query }: { query: Route['query'] }): JSX.Element {
  const who = useStore(session), all = ['admin', 'operate', 'audit'].some((scope) => scopeHas(who, scope) !== false);
  const word = (name: string): string => query.get(name) ?? '';
  const asked: Asked = { by: names.some(([by]) => by === word('by')) ? word('by') : 'month', months: word('months') === 'yes', since: word('since'), until: word('until'), user: word('user'), group: word('group') };
  const [since, setSince] = useState(asked.since), [until, setUntil] = useState(asked.until), [user, setUser] = useState(asked.user), [group, setGroup] = useState(asked.group);
  const go = (next: Record<string, string>): void => routeGo(routeLink(['usage'], { by: asked.by, months: asked.months ? 'yes' : '', since: asked.since, until: asked.until, user: asked.user, group: asked.group, ...next }));
  useTitle('Accounting');
  return (
    <>
      <h1>Accounting</h1>
      <div class="row">
        <Choice label="By" of={names.filter(([by]) => all || by !== 'machine')} value={asked.by} pick={(by) => go({ by })} />
        {asked.by === 'month' ? null : <Choice label="Months" of={[['', 'All together'], ['yes', 'Each month']]} value={asked.months ? 'yes' : ''} pick={(months) => go({ months })} />}
      </div>
      <form class="row" onSubmit={(event) => { event.preventDefault(); go({ since: since.trim(), until: until.trim(), user: user.trim(), group: group.trim() }); }}>
        <label>From{' '}<input type="text" size={10} value={since} placeholder="2026-01" onInput={(event) => setSince(event.currentTarget.value)} /></label>
        <label>To{' '}<input type="text" size={10} value={until} placeholder="2026-12" onInput={(event) => setUntil(event.currentTarget.value)} /></label>
        {all ? <label>User{' '}<input type="text" value={user} onInput={(event) => setUser(event.currentTarget.value)} /></label> : null}
        <label>Group{' '}<input type="text" value={group} onInput={(event) => setGroup(event.currentTarget.value)} /></label>
        <button type="submit" class="main">Show</button>
      </form>
      <Section title="What was used" note={`Nothing in it fades, and no match depends on it. ${all ? 'Of all users.' : 'Of your own account, in all its groups.'} Months are those of the matchmaker’s clock, in UTC.`}>
        <Rows of={asked} />
      </Section>
    </>
  );
}
