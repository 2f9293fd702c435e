// home.tsx: the pool at a glance: four numbers, who runs and waits over time, and what needs somebody.
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { api, type Desk, type Job, type Limit, type Machine, type MachineCounts, type Overview, type Series, type Span, type Submission, type WaitCount } from '../api';
import { Chart, Legend, type Layer } from '../chart';
import { useDesks } from '../desks';
import { askFew } from '../few';
import { count, many, real, spanSaid } from '../format';
import { useAct, useLoad, useSliced, useTitle } from '../hooks';
import { commandOf, jobLink, partsOf } from '../jobwords';
import { live } from '../live';
import { deskNews, poolNews } from '../news';
import { othersClass, userClass } from '../people';
import { adLink, countIn, routeGo, routeLink, routeWith, type Route } from '../route';
import { session } from '../session';
import { useStore } from '../store';
import { Choice, Figure, Parts, Problem, Section, Shown, Tag, When, type Tone } from '../ui';
import { mendable } from '../words';
import { LimitAct } from './limit_act';
import { machineLink, useMachineAct, type MachineVerb } from './machine_act';

/* ------------------------------------------------------------------------------------------------------------ over time */

const spans: [Span, string][] = [['hour', 'Hour'], ['day', 'Day'], ['month', 'Month']];
const every: Record<Span, number> = { hour: 10_000, day: 120_000, month: 600_000 }, lengths: Record<Span, number> = { hour: 3600, day: 86400, month: 31 * 86400 };

/** Running of each user, then of all others, and above them what waits, in the same colours. */
function layersMake(of: Series): Layer[] {
  const users = of.Users ?? [], rest = (all: number[], mine: (user: (typeof users)[number]) => number[]): number[] => all.map((n, i) => Math.max(0, n - users.reduce((sum, user) => sum + (mine(user)[i] ?? 0), 0)));
  const layers: Layer[] = [
    ...users.map((user): Layer => ({ name: `${user.Name} running`, tone: userClass(user.Name), values: user.Running })),
    { name: 'others running', tone: othersClass, values: rest(of.Claims, (user) => user.Running) },
    ...users.map((user): Layer => ({ name: `${user.Name} waiting`, tone: userClass(user.Name), faint: true, values: user.Waiting })),
    { name: 'others waiting', tone: othersClass, faint: true, values: rest(of.Waiting, (user) => user.Waiting) },
  ];
  return layers.filter(({ values }) => values.some((n) => n));
}

function OverTime({ span }: { span: Span }): JSX.Element {
  const series = useLoad((signal) => api.series(span, signal), span, { of: poolNews, least: every[span] });
  const of = series.value, layers = useMemo(() => (of ? layersMake(of) : []), [of]);
  const long = of && of.At.length > 1 ? of.At[of.At.length - 1]! - of.At[0]! : 0;
  return (
    <Section title="Running and waiting" side={<Choice label="Span of time" of={spans} value={span} pick={(next) => routeGo(routeWith({ span: next === 'hour' ? undefined : next }))} />}>
      <Shown of={series}>
        {(value) => (layers.length ? (
          <>
            <Chart title="Jobs" at={value.At} layers={layers} show={count} span={long > lengths[span] / 2 ? lengths[span] : undefined} />
            <Legend layers={layers} />
          </>
        ) : <p class="empty">Here is drawn, by user, what runs and what waits. Nothing has in this {span}. <a href="#/submit">Submit a job</a></p>)}
      </Shown>
    </Section>
  );
}

/* ---------------------------------------------------------------------------------------------------------------- failed */

const FAILED_MOST = 1000;
const midnight = (): number => Math.floor(new Date().setHours(0, 0, 0, 0) / 1000);

const failedAsk = async (desk: Desk, signal: AbortSignal): Promise<number> =>
  (await api.history(desk.Agent, { constraint: `Ended >= ${midnight()} && Outcome isnt "Succeeded" && Outcome isnt "Removed"`, select: 'Job', limit: FAILED_MOST }, signal)).rows.length;

/** Of all customers that one may see. News comes of the first; the others are asked now and then, and one that does not answer counts for nothing. */
function Failed({ desks }: { desks: Desk[] }): JSX.Element {
  const desk = desks[0]!, rest = desks.slice(1);
  const first = useLoad((signal) => failedAsk(desk, signal), `failed ${desk.Agent}`, { of: deskNews(desk.Agent), least: 5000 });
  const others = useLoad((signal) => askFew(rest, (one) => failedAsk(one, signal).catch(() => 0)), rest.length ? `failed ${rest.map((one) => one.Agent).join()}` : null, { of: poolNews, least: 30_000 });
  const counts = [first.value ?? 0, ...(others.value ?? [])], n = counts.reduce((sum, one) => sum + one, 0), most = Math.max(...counts), loading = first.value === undefined && !first.error;
  const worst = desks[counts.indexOf(most)] ?? desk;
  return <Figure name="Failed today" tone={n ? 'bad' : undefined} value={loading ? '…' : most >= FAILED_MOST ? `${count(n)} or more` : count(n)} note={rest.length ? `of the jobs at ${many(desks.length, 'customer')}` : `of the jobs at ${desk.Name}`} href={routeLink(['jobs'], { show: 'over', state: 'failed', desk: worst.Agent })} />;
}

function Figures({ seen, desks }: { seen: Overview; desks: Desk[] }): JSX.Element {
  const of = seen.Machines;
  return (
    <dl class="figures">
      <Figure name="Processors in use" value={of ? `${real(of.CpusUsed)} of ${real(of.Cpus)}` : '–'} note={of?.GpuCount ? `${real(of.GpusUsed)} of ${real(of.GpuCount)} GPUs` : many(of?.Known ?? 0, 'machine')} href="#/machines" part={of?.Cpus ? of.CpusUsed / of.Cpus : undefined} />
      <Figure name="Running" value={count(seen.Claims)} note="jobs that have their part of a machine" />
      <Figure name="Waiting" value={count(seen.Waiting)} note={`jobs in ${many(seen.Requests, 'request')}`} />
      {desks.length ? <Failed desks={desks} /> : <Figure name="Failed today" value="–" note="is known of jobs of your own" href="#/jobs" />}
    </dl>
  );
}

/* ------------------------------------------------------------------------------------------------------------- attention */

interface Item {
  key: string;
  tone: Tone;
  what: string; // a word for its kind
  text: string;
  of: unknown; // what it is made of
  help?: JSX.Element; // what to do where no button reaches
  act: JSX.Element;
}

const order: Tone[] = ['bad', 'warn'];

function Release({ desk, jobs, done }: { desk: string; jobs: Job[]; done: () => void }): JSX.Element {
  const act = useAct(async () => {
    await api.control(desk, 'release', { Ids: jobs.map((job) => job.Job).join(',') }, 'by the page');
    done();
  });
  return (
    <>
      <a class="button" href={jobs.length === 1 ? jobLink(desk, jobs[0]!.Job) : routeLink(['jobs'], { desk, show: 'jobs', state: 'held' })}>Look</a>
      <button type="button" disabled={act.busy} onClick={() => void act.run()}>Release</button>
      <Problem error={act.error} />
    </>
  );
}

const mends: Partial<Record<Machine['State'], [MachineVerb, string, string]>> = {
  Drained: ['resume', 'Resume', 'It takes jobs again'],
  Sick: ['drain', 'Drain', 'It is tried with no more jobs until it is resumed'],
  Away: ['forget', 'Forget', 'It is listed no more, until it is heard of again'],
};

/** What mends it, for those who may: one that is drained takes jobs again, one that is sick is kept from jobs until somebody has looked after it, and one that is away, whom no
 * button reaches, is started there, or forgotten where it was taken out. */
function MachineAct({ machine, done }: { machine: Machine; done: () => void }): JSX.Element {
  const act = useMachineAct(machine), mend = act.may ? mends[machine.State] : undefined;
  return (
    <>
      <a class="button" href={machineLink(machine.Name)}>Look</a>
      {mend ? <button type="button" disabled={act.busy} title={mend[2]} onClick={() => void act.run(mend[0]).then(done)}>{mend[1]}</button> : null}
      <Problem error={act.error} />
    </>
  );
}

/** In the words of `berth why`. */
const unwellWords = (machine: Machine): string => (machine.State === 'Away' ? `is away: not heard of for ${spanSaid(machine.Since)}` : machine.State === 'Sick' ? `cannot run jobs now${machine.Words ? `: ${machine.Words}` : ''}` : 'was told to take no more jobs');
const AwayHelp = (): JSX.Element => <>It is switched off or cut off, or Berth does not run there: <code>systemctl restart berth-provider</code></>;

function machineItem(machine: Machine, done: () => void): Item {
  return {
    key: `machine ${machine.Agent}${machine.Id}`, tone: machine.State === 'Sick' ? 'bad' : 'warn', what: machine.State.toLowerCase(), text: `${machine.Name} ${unwellWords(machine)}`,
    of: machine, help: machine.State === 'Away' ? <AwayHelp /> : undefined, act: <MachineAct machine={machine} done={done} />,
  };
}

const machinesUnwell = ['Sick', 'Away', 'Drained'] as const;

/** Those that are not in the list, by state. */
function moreItems(counts: MachineCounts | undefined, shown: Machine[]): Item[] {
  if (shown.length < MACHINES_MOST) return [];
  return machinesUnwell.flatMap((state): Item[] => {
    const more = (counts?.[state] ?? 0) - shown.filter((machine) => machine.State === state).length;
    return more > 0 ? [{ key: `more ${state}`, tone: state === 'Sick' ? 'bad' : 'warn', what: state.toLowerCase(), of: more, text: `${many(more, 'machine')} more ${more === 1 ? 'is' : 'are'} ${state.toLowerCase()}`, act: <a class="button" href={routeLink(['machines'], { state })}>See all</a> }] : [];
  });
}

const heldAsk = async (desk: Desk, signal: AbortSignal): Promise<{ desk: Desk; jobs: Job[] }> => ({ desk, jobs: (await api.jobs(desk.Agent, { constraint: 'State == "Held"', select: 'Job,Reason,State', limit: HELD_MOST }, signal)).rows });

/** Those that are held for the same reason, together; where there are several customers, at which of them. */
function heldItems({ desk, jobs }: { desk: Desk; jobs: Job[] }, several: boolean, done: () => void): Item[] {
  const by = new Map<string, Job[]>(), where = several ? ` at ${desk.Name} (${desk.Identity})` : '';
  for (const job of jobs) by.set(job.Reason ?? '', [...(by.get(job.Reason ?? '') ?? []), job]);
  return [...by].map(([reason, of]) => ({ key: `held ${desk.Agent} ${reason}`, tone: 'warn', what: 'held', of, text: `${of.length === 1 ? `job ${of[0]!.Job} is held` : `${many(of.length, 'job')} are held`}${where}${reason ? `: ${reason}` : ''}`, act: <Release desk={desk.Agent} jobs={of} done={done} /> }));
}

/** A request that contradicts itself can never run, and neither can one that asks for more of something than there is. */
const waitItem = (row: WaitCount): Item => {
  const never = row.Code === 'never' || row.Never === true, { tone, act } = mendable[never ? 'never' : row.Code ?? '']!;
  return { key: `wait ${row.Reason}`, tone, what: never ? 'never' : 'waits', of: row, text: `${many(row.Units, 'job')}: ${row.Reason}`, act: <a class="button" href={row.Example ? adLink(row.Example) : routeLink(['ads'], { kind: 'requests' })}>{act}</a> };
};

const limitItem = (limit: Limit, done: () => void): Item => ({ key: `limit ${limit.Name}`, tone: 'warn', what: 'full', of: limit, text: `the limit ${limit.Name} is used up: ${count(limit.Used)} of ${count(limit.Most ?? 0)} in use`, act: <><a class="button" href="#/users">See limits</a><LimitAct limit={limit} done={done} /></> });

const MACHINES_MOST = 20, ITEMS_MOST = 30, HELD_MOST = 200;

function AttentionLine({ item }: { item: Item }): JSX.Element {
  return <li><Tag tone={item.tone}>{item.what}</Tag><span>{item.text}.{item.help ? <small class="under">{item.help}</small> : null}</span><span class="acts">{item.act}</span></li>;
}

function Attention({ desks: [desk, ...rest], most }: { desks: Desk[]; most: number }): JSX.Element {
  const anew = { of: poolNews, least: 5000 };
  const machines = useLoad((signal) => api.machines({ constraint: `Type == "Machine" && (${machinesUnwell.map((state) => `State == "${state}"`).join(' || ')})`, limit: MACHINES_MOST, order: 'name' }, signal), 'machines', anew);
  const waits = useLoad((signal) => api.reasons(signal), 'reasons', { of: poolNews, least: 15_000 });
  const limits = useLoad((signal) => api.limits(signal), 'limits', anew);
  const held = useLoad((signal) => heldAsk(desk!, signal), desk ? `held ${desk.Agent}` : null, desk ? { of: deskNews(desk.Agent) } : undefined);
  const others = useLoad((signal) => askFew(rest, (one) => heldAsk(one, signal).catch(() => ({ desk: one, jobs: [] }))), rest.length ? `held ${rest.map((one) => one.Agent).join()}` : null, { of: poolNews, least: 30_000 }); // as Failed does
  const items: Item[] = [
    ...(machines.value?.rows.map((machine) => machineItem(machine, machines.again)) ?? []), ...moreItems(live.get().overview?.Machines, machines.value?.rows ?? []),
    ...(held.value ? heldItems(held.value, rest.length > 0, held.again) : []), ...(others.value ?? []).flatMap((one) => heldItems(one, true, others.again)),
    ...(waits.value?.filter((row) => row.Code && row.Code in mendable).map(waitItem) ?? []),
    ...(limits.value?.rows.filter((limit) => limit.Most !== undefined && limit.Used >= limit.Most && (limit.Most > 0 || limit.Used > 0)).map((limit) => limitItem(limit, limits.again)) ?? []),
  ].sort((a, b) => order.indexOf(a.tone) - order.indexOf(b.tone));
  const loading = !machines.value && !machines.error, shown = items.slice(0, most);
  const { drawn } = useSliced(shown.map((item) => ({ key: item.key, of: [item.text, item.of], draw: () => <AttentionLine key={item.key} item={item} /> })), 2);
  return (
    <Section title="What needs attention">
      {waits.error && waits.error.status !== 403 && waits.error.status !== 404 ? <Problem error={waits.error} /> : null}
      {items.length ? <ul class="attend">{drawn}</ul>
        : <p class="empty">{loading ? 'Loading …' : 'Nothing: no machine is sick or away, no job is held, every job that waits can run, and no limit is full.'}</p>}
      {items.length > most ? <button type="button" onClick={() => routeGo(routeWith({ more: String(most + ITEMS_MOST) }))}>Show more of {count(items.length)}</button> : null}
    </Section>
  );
}

/* ----------------------------------------------------------------------------------------------------------- one's own */

export function SubmissionLine({ of, desk }: { of: Submission; desk: string }): JSX.Element {
  const parts = partsOf(of), words = parts.filter(({ part }) => part).map(({ part, words: word }) => `${count(part)} ${word}`).join(', ');
  return (
    <li>
      <a href={of.Jobs === 1 ? jobLink(desk, of.Submission) : routeLink(['jobs'], { desk, show: 'jobs', ids: `${of.Submission}-${of.Last}` })}><code class="short">{commandOf(of.Cmd, of.Args)}</code></a>
      <Parts of={parts} label={words} />
      <span class="quiet">{words}{of.Estimate !== undefined ? `; about ${spanSaid(of.Estimate)} left` : ''} · <When at={of.Submitted} /></span>
    </li>
  );
}

function SubmissionLines({ rows, desk }: { rows: Submission[]; desk: string }): JSX.Element {
  const { drawn } = useSliced(rows.map((row) => ({ key: String(row.Submission), of: row, also: desk, draw: () => <SubmissionLine key={row.Submission} of={row} desk={desk} /> })), 2);
  return <ul class="lines">{drawn}</ul>;
}

function Mine({ desk }: { desk: Desk }): JSX.Element {
  const found = useLoad((signal) => api.submissions(desk.Agent, { limit: 6 }, signal), desk.Agent, { of: deskNews(desk.Agent) });
  return (
    <Section title={`Jobs at ${desk.Name}`} side={<a class="button" href={routeLink(['submit'], { desk: desk.Agent })}>Submit</a>}>
      <Shown of={found}>
        {({ rows, cursor }) => (rows.length ? (
          <>
            <SubmissionLines rows={rows} desk={desk.Agent} />
            {cursor ? <p><a href={routeLink(['jobs'], { desk: desk.Agent })}>All of them</a></p> : null}
          </>
        ) : <p class="empty">Nothing is under way. <a href={routeLink(['submit'], { desk: desk.Agent })}>Submit a job</a>: a command is all that is needed.</p>)}
      </Shown>
    </Section>
  );
}

/** What changes with each news of the pool, alone: the rest asks for itself. */
function Glance({ mine, known }: { mine: Desk[]; known: boolean }): JSX.Element {
  const now = useStore(live), seen = now.overview;
  return (
    <>
      <Problem error={now.error} />
      {seen && known ? <Figures seen={seen} desks={mine} /> : now.error ? null : <p class="quiet">Loading …</p>}
      {seen?.Machines && !seen.Machines.Known ? <p class="empty">No machine is in the pool yet. Where the matchmaker runs, <code>berth token code</code> prints a code; on the machine that shall work, <code>berth join CODE</code> takes it in.</p> : null}
    </>
  );
}

export function HomeView({ query }: { query: Route['query'] }): JSX.Element {
  const desks = useDesks(), { subject } = useStore(session), asked = query.get('span') as Span;
  const mine = desks.value ? [...desks.value].sort((a, b) => Number(b.Identity === subject) - Number(a.Identity === subject)) : [];
  useTitle('Home');
  return (
    <>
      <h1>Home</h1>
      <Glance mine={mine} known={!!(desks.value || desks.error)} />
      <OverTime span={spans.some(([word]) => word === asked) ? asked : 'hour'} />
      <Attention desks={mine} most={countIn(query, 'more', ITEMS_MOST)} />
      {mine[0] ? <Mine desk={mine[0]} /> : null}
    </>
  );
}
