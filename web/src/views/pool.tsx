// pool.tsx: the matchmaker's own tables, for experts: offers by kind, requests by their last try, matches and claims.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { api, type Claim, type Kind, type Match, type Overview, type Series, type Span, type Status } from '../api';
import { Chart } from '../chart';
import { clock, count, many, moment, percent, real, span as spanAlone, spanSaid } from '../format';
import { useLoad, useTitle } from '../hooks';
import { poolNews } from '../news';
import { live, type Timed } from '../live';
import { adLink, route, routeGo, routeLink, routeWith } from '../route';
import { useStore } from '../store';
import { Bar, Choice, Figure, Problem, Section, Shown, Table, Tag } from '../ui';
import { outcomeOrder, outcomes } from '../words';
import { UsersShort } from './users';

const spans: [Span, string][] = [['hour', 'Hour'], ['day', 'Day'], ['month', 'Month']];
const refresh: Record<Span, number> = { hour: 10_000, day: 60_000, month: 300_000 };
const shown = 12;

interface Lines {
  at: number[];
  used: (number | null)[];
  waiting: (number | null)[];
}

/** The samples, and behind them what is now. A line has two ends, also in a pool that has just begun. */
function linesMake(of?: Series, now?: Overview): Lines {
  const part = (claims: number, offers: number): number => claims / Math.max(1, claims + offers);
  const lines: Lines = { at: [...(of?.At ?? [])], used: of?.At.map((_, i) => part(of.Claims[i]!, of.Offers[i]!)) ?? [], waiting: [...(of?.Waiting ?? [])] };
  const last = lines.at[lines.at.length - 1], moment = Math.floor(Date.now() / 1000);
  if (now && (last === undefined || moment > last)) {
    lines.at.push(moment);
    lines.used.push(part(now.Claims, now.Offers));
    lines.waiting.push(now.Waiting);
  }
  if (lines.at.length === 1) return { at: [lines.at[0]! - 60, lines.at[0]!], used: [null, lines.used[0]!], waiting: [null, lines.waiting[0]!] };
  return lines;
}

function Charts(): JSX.Element {
  const asked = useStore(route).query.get('span') as Span, span = spans.some(([word]) => word === asked) ? asked : 'hour';
  const series = useLoad((signal) => api.series(span, signal), span, { of: poolNews, least: refresh[span] });
  const of = series.value, now = useStore(live).overview;
  const lines = useMemo(() => linesMake(of, now), [of, now]);
  return (
    <Section title="Over time" side={<Choice label="Span of time" of={spans} value={span} pick={(next) => routeGo(routeWith({ span: next === 'hour' ? undefined : next }))} />}>
      <Shown of={series}>
        {() => (
          <div class="columns">
            <Chart title="Offers in use" at={lines.at} layers={[{ name: 'in use', tone: 'use', values: lines.used }]} show={percent} top={1} />
            <Chart title="Jobs that wait" at={lines.at} layers={[{ name: 'waiting', tone: 'use', values: lines.waiting }]} show={count} />
          </div>
        )}
      </Shown>
    </Section>
  );
}

/** The mean, and the time within which 99 of 100 cycles were done, of the histogram in the metrics. */
function cyclesRead(text: string): { mean: number; most: number } | null {
  const number = (name: string): number => Number(new RegExp(`^berth_cycle_seconds_${name} (\\S+)`, 'm').exec(text)?.[1] ?? NaN);
  const total = number('count'), sum = number('sum');
  if (!(total > 0)) return null;
  for (const found of text.matchAll(/^berth_cycle_seconds_bucket\{le="([^"]+)"\} (\S+)/gm))
    if (Number(found[2]) >= total * 0.99) return { mean: sum / total, most: Number(found[1]) };
  return { mean: sum / total, most: NaN };
}

function Health(): JSX.Element {
  const status = useLoad(async (signal): Promise<[Status, string]> => [await api.status(signal), await api.metrics(signal).catch(() => '')], 'status', { of: poolNews, least: 5000 });
  return (
    <Section title="The matchmaker">
      <Shown of={status}>
        {([value, metrics]) => {
          const cycles = cyclesRead(metrics);
          return (
            <dl class="facts">
              <div><dt>Name</dt><dd>{value.Name}, version {value.Version}</dd></div>
              <div><dt>Up since</dt><dd>{moment(Date.now() / 1000 - value.Up).slice(0, 16)} ({spanAlone(value.Up)})</dd></div>
              <div><dt>Cycles</dt><dd>{count(value.Cycles)}{cycles ? `, ${spanSaid(cycles.mean)} on average` : ''}{cycles && Number.isFinite(cycles.most) ? `, 99 of 100 within ${spanSaid(cycles.most)}` : ''}</dd></div>
              <div><dt>Streams open</dt><dd>{count(value.Streams)}</dd></div>
              <div><dt>News to be delivered</dt><dd>{count(value.NotificationsWaiting)}{value.NotificationsGivenUp ? `; ${count(value.NotificationsGivenUp)} given up` : ''}</dd></div>
              <div><dt>Agents</dt><dd><a href="#/agents">{count(value.Agents)}</a></dd></div>
              {value.Matchmakers?.map((one) => (
                <div key={one.Who}><dt>{one.Leads ? 'Leads' : 'Stands by'}</dt><dd>{one.Url || one.Who}, since {moment(one.Since).slice(0, 16)} ({spanAlone(one.For)})</dd></div>
              ))}
              {value.Matchmakers?.length === 1 ? <div><dt>Stands by</dt><dd>none: when this one is lost, nobody takes over</dd></div> : null}
            </dl>
          );
        }}
      </Shown>
    </Section>
  );
}

const matchColumns = [
  { name: 'Time', cell: ({ at }: Timed<Match>) => clock(at) },
  { name: 'Request', cell: ({ row }: Timed<Match>) => (row.Request ? <a href={adLink(row.Request)}>{row.Request}</a> : '') },
  { name: 'Offer', cell: ({ row }: Timed<Match>) => <a href={adLink(row.Offer)}>{row.Offer}</a> },
  { name: 'Owner', cell: ({ row }: Timed<Match>) => row.Owner ?? '' },
];
const portColumn = { name: 'Port', cell: ({ row }: Timed<Match>) => row.Port ?? '' };

const states: Record<string, 'good' | 'warn' | undefined> = { active: 'good', expected: 'warn' };
const claimColumns = [
  { name: 'Time', cell: ({ at }: Timed<Claim>) => clock(at) },
  { name: 'State', cell: ({ row }: Timed<Claim>) => <Tag tone={states[row.State]}>{row.State}</Tag> },
  { name: 'Owner', cell: ({ row }: Timed<Claim>) => row.Owner },
  { name: 'Provider', cell: ({ row }: Timed<Claim>) => row.Provider },
  { name: 'Used', number: true, cell: ({ row }: Timed<Claim>) => spanAlone(row.Used) },
];

/** Each reason with how many wait for it. Explaining takes the server some work, so it is not asked often. */
function Reasons(): JSX.Element | null {
  const reasons = useLoad((signal) => api.reasons(signal), 'reasons', { of: poolNews, least: 15_000 });
  if (reasons.error?.status === 404) return null;
  return (
    <Section title="Why requests wait" note={reasons.value?.some((row) => !row.Example) ? 'Of many requests those with most jobs are explained.' : undefined}>
      <Shown of={reasons}>
        {(rows) => (
          <Table label="Why requests wait" rows={rows.slice(0, shown)} id={(row) => row.Reason} empty="Nothing waits." columns={[
            { name: 'Reason', cell: (row) => (row.Example ? row.Reason : <span class="quiet">the others: {row.Reason}</span>) },
            { name: 'Requests', number: true, cell: (row) => count(row.Requests) },
            { name: 'Jobs', number: true, cell: (row) => count(row.Units) },
            { name: 'For example', cell: (row) => (row.Example ? <a href={adLink(row.Example)}>{row.Example}</a> : '') },
          ]} />
        )}
      </Shown>
    </Section>
  );
}

const KINDS_MOST = 16, KIND_LONGEST = 40; // as the census counts them: the last of so many is all others, and names are cut

function KindLink({ kind: { Kind }, last }: { kind: Kind; last: boolean }): JSX.Element {
  if (last || Kind.length >= KIND_LONGEST) return <>{Kind}</>;
  return <a href={routeLink(['ads'], { kind: 'offers', constraint: Kind ? `Type == ${JSON.stringify(Kind)}` : 'Type is undefined' })}>{Kind || 'without a Type'}</a>;
}

export function PoolView(): JSX.Element {
  const now = useStore(live);
  const seen = now.overview;
  useTitle('Matchmaker');
  const waiting = new Map(seen?.Outcomes.map((outcome) => [outcome.Outcome, outcome]));
  const used = seen ? seen.Claims / Math.max(1, seen.Claims + seen.Offers) : 0;
  const all = (kind: Kind): number => kind.Offers + (kind.Taken ?? 0);
  const kinds = seen?.Kinds ?? [], most = Math.max(1, ...kinds.map(all));
  return (
    <>
      <h1>Matchmaker</h1>
      <Problem error={now.error} />
      {seen ? (
        <dl class="figures">
          {seen.Machines?.Known ? <Figure name="Machines" value={count(seen.Machines.Known)} note={`${real(seen.Machines.CpusUsed)} of ${real(seen.Machines.Cpus)} processors in use`} href="#/machines" /> : null}
          <Figure name="Offers free" value={count(seen.Offers)} href="#/ads?kind=offers" />
          <Figure name="Claims" value={count(seen.Claims)} />
          <Figure name="In use" value={percent(used)} />
          <Figure name="Jobs that wait" value={count(seen.Waiting)} note={`in ${many(seen.Requests, 'request')}`} href="#/ads?kind=requests" />
          <Figure name="Matches made" value={count(seen.Matches)} note="since it is up" />
        </dl>
      ) : now.error ? null : <p class="quiet">Loading …</p>}
      <Charts />
      <div class="columns">
        <Section title="Offers">
          <Table label="Offers by kind" rows={kinds} id={(kind) => kind.Kind} empty="There are no offers." columns={[
            { name: 'Kind', cell: (kind) => <KindLink kind={kind} last={kinds.indexOf(kind) === KINDS_MOST - 1} /> },
            { name: 'Free', number: true, cell: (kind) => count(kind.Offers - kind.Parted) },
            { name: 'Taken in part', number: true, cell: (kind) => count(kind.Parted) },
            { name: 'Taken', number: true, cell: (kind) => count(kind.Taken ?? 0) },
            { name: 'All', number: true, cell: (kind) => <>{count(all(kind))} <Bar part={all(kind) / most} /></> },
          ]} />
        </Section>
        <Section title="Requests">
          {seen ? (
            <Table label="Requests by what became of their last try" rows={outcomeOrder.map((word) => waiting.get(word) ?? { Outcome: word, Requests: 0, Units: 0 })} id={(row) => row.Outcome} columns={[
              { name: 'Last try', cell: (row) => <a href={routeLink(['ads'], { kind: 'requests', outcome: row.Outcome })} title={outcomes[row.Outcome].note}>{outcomes[row.Outcome].name}</a> },
              { name: 'Requests', number: true, cell: (row) => count(row.Requests) },
              { name: 'Jobs that wait', number: true, cell: (row) => <>{count(row.Units)} <Bar part={row.Units / Math.max(1, seen.Waiting)} tone={outcomes[row.Outcome].tone} /></> },
            ]} />
          ) : null}
        </Section>
      </div>
      <Reasons />
      <UsersShort />
      <div class="columns">
        <Section title="Matches, the newest first">
          <Table label="Matches" rows={now.matches.slice(0, shown)} id={({ row }) => row.Claim} columns={now.matches.some(({ row }) => row.Port) ? [...matchColumns, portColumn] : matchColumns} empty="None lately." />
        </Section>
        <Section title="Claims, the newest first">
          <Table label="Claims" rows={now.claims.slice(0, shown)} id={({ row }) => row.Claim} columns={claimColumns} empty="None lately." />
        </Section>
      </div>
      <Health />
    </>
  );
}
