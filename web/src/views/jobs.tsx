// jobs.tsx: one's jobs at a customer: submissions that are under way, each opened to its jobs; all jobs that are; and those that are over.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { api, type Job, type Listed, type Submission } from '../api';
import { AtDesk } from '../desks';
import { count, inCell, many, moment, span, spanSaid } from '../format';
import { useAct, useLoad, useQuiet, useSliced, useTick, useTitle } from '../hooks';
import { command, commandOf, failed, jobLink, over, partsOf, plannedOf, standing, tone, workflowLink } from '../jobwords';
import { deskNews } from '../news';
import { route, routeGo, routeLink, routeWith, type Route } from '../route';
import { useStore } from '../store';
import { Choice, Later, Pager, Parts, Problem, Shown, type Sorting, Table, Tag, usePaging, When } from '../ui';
import { Crons } from './crons';

const PAGE = 25, SHOWN = 50; // of those that are sorted, more
/** What rows of jobs show. */
export const JOB_FIELDS = 'Job,State,Cmd,Args,Owner,Provider,Submitted,Started,Ended,WallUsed,Reason,Outcome,ExitCode,Signal,Workflow,Node,WaitsUntil,PlannedStart,PlannedMachine';

/** How it stands, and why, where there is something to say: it failed, or it waits. */
export function StateCell({ job }: { job: Job }): JSX.Element {
  const why = over(job.State) && (!failed(job) || job.Reason === 'the job ended') ? undefined : job.WaitsUntil ? `until ${moment(job.WaitsUntil)}` : job.Reason ?? plannedOf(job);
  return <><Tag tone={tone(job)}>{standing(job)}</Tag>{why ? <small class="under">{why}</small> : null}</>;
}

/* ------------------------------------------------------------------------------------------------------------- choosing */

interface Choosing {
  chosen: Set<string>; // numbers of jobs, and ranges of them
  pick: (ids: string, on: boolean) => void;
}

interface Chosen extends Choosing {
  every: boolean; // and all that are so, those of the other pages, too
  clear: (to: string[], every?: boolean) => void; // these are chosen, and no others
  over: (of: Set<string>) => void; // that was acted upon: none is chosen, unless others were meanwhile
}

/** All that a list is of, those of its other pages, too. */
interface AllSo { Ids?: string; Constraint?: string }

type Verb = 'hold' | 'release' | 'remove';
const did: Record<Verb, string> = { hold: 'held', release: 'released', remove: 'removed' };

/** Buttons for what is chosen among these, or for all that are so, if there are more than these. */
function Acts({ desk, all, so, choosing, done }: { desk: string; all: string[]; so?: AllSo; choosing: Chosen; done: () => void }): JSX.Element {
  const { chosen, clear } = choosing, whole = !!so && choosing.every && all.length === chosen.size && all.every((ids) => chosen.has(ids));
  const act = useAct(async (verb: Verb) => {
    const told = await api.control(desk, verb, whole && so ? so : { Ids: [...chosen].join(',') }, 'by the page');
    choosing.over(chosen);
    done();
    return { verb, ...told };
  });
  const { value } = act;
  return (
    <>
      <div class="row acts">
        {(['hold', 'release', 'remove'] as const).map((verb) => <button key={verb} type="button" disabled={!chosen.size || act.busy} onClick={() => void act.run(verb)}>{verb[0]!.toUpperCase() + verb.slice(1)}</button>)}
        <button type="button" disabled={!all.length} onClick={() => clear(chosen.size ? [] : all)}>{chosen.size ? 'Choose none' : 'Choose all here'}</button>
        {so && all.length && !whole ? <button type="button" title="Those of the other pages, too" onClick={() => clear(all, true)}>Choose all that are so</button> : null}
        <span role="status" class="quiet">{whole ? 'All that are so are chosen, those of the other pages, too' : chosen.size ? `${count(chosen.size)} chosen` : value ? `${many(value.Changed, 'job')} ${did[value.verb]}${value.Unchanged ? `; ${count(value.Unchanged)} stayed as they were` : ''}.` : ''}</span>
      </div>
      <Problem error={act.error} />
    </>
  );
}

/** What is chosen in one list: in another one, as of another search, nothing is: what is not seen is not acted upon. */
function useChoosing(list: string): Chosen {
  const [state, setState] = useState<{ list: string; chosen: Set<string>; every: boolean }>({ list, chosen: new Set(), every: false });
  const none = useRef(new Set<string>()), chosen = state.list === list ? state.chosen : none.current;
  const pick = (ids: string, on: boolean): void => setState((old) => { // a row may be drawn again somewhat later than this
    const next = new Set(old.list === list ? old.chosen : []);
    if (on) next.add(ids);
    else next.delete(ids);
    return { list, chosen: next, every: false };
  });
  const over = (of: Set<string>): void => setState((old) => (old.chosen === of ? { ...old, chosen: new Set(), every: false } : old));
  return { chosen, pick, over, every: state.list === list && state.every, clear: (to, every = false) => setState({ list, chosen: new Set(to), every }) };
}

/* ----------------------------------------------------------------------------------------------------------------- jobs */

const ranOf = (job: Job): number | undefined => (job.State === 'Running' && job.Started ? Date.now() / 1000 - job.Started : job.WallUsed);

/** How long it ran, or has run now. */
function Ran({ job }: { job: Job }): JSX.Element {
  useTick();
  const ran = ranOf(job);
  return <>{ran === undefined ? '' : span(ran)}</>;
}

export function JobTable({ desk, rows, choosing, empty, sorting, past }: { desk: string; rows: Job[]; choosing?: Choosing; empty?: ComponentChildren; sorting?: Sorting; past?: boolean }): JSX.Element {
  return (
    <Table label="Jobs" rows={rows} id={(job) => String(job.Job)} empty={empty} sorting={sorting} state={choosing?.chosen ?? desk} columns={[
      ...(choosing ? [{ name: 'Choose', cell: (job: Job) => <input type="checkbox" aria-label={`Job ${job.Job}`} checked={choosing.chosen.has(String(job.Job))} onChange={(event) => choosing.pick(String(job.Job), event.currentTarget.checked)} /> }] : []),
      { name: 'Job', number: true, sort: (job) => job.Job, cell: (job) => <a href={jobLink(desk, job.Job)}>{job.Job}</a> },
      { name: 'State', sort: (job) => standing(job), cell: (job) => <StateCell job={job} /> },
      { name: 'Command', sort: (job) => command(job), cell: (job) => <><code class="short">{command(job)}</code>{job.Workflow ? <small class="under">node {inCell(job.Node)} of <a href={workflowLink(desk, job.Workflow)}>workflow {job.Workflow}</a></small> : null}</> },
      { name: 'Owner', sort: (job) => job.Owner ?? '', cell: (job) => job.Owner ?? '' },
      { name: 'Where', sort: (job) => job.Provider ?? '', cell: (job) => job.Provider ?? '' },
      past ? { name: 'Ended', sort: (job) => job.Ended ?? 0, cell: (job) => (job.Ended ? <When at={job.Ended} /> : '') }
        : { name: 'Submitted', sort: (job) => job.Submitted ?? 0, cell: (job) => (job.Submitted ? <When at={job.Submitted} /> : '') },
      { name: 'Ran', number: true, sort: (job) => ranOf(job) ?? -1, cell: (job) => (ranOf(job) === undefined ? '' : <Ran job={job} />) },
    ]} />
  );
}

/* ---------------------------------------------------------------------------------------------------------- submissions */

/** A word of the address for the page of a submission that is opened. */
const pageWord = (submission: number | string): string => `page${submission}`;

function Opened({ desk, of }: { desk: string; of: Submission }): JSX.Element {
  const ids = `${of.Submission}-${of.Last}`, paging = usePaging(ids, pageWord(of.Submission)), choosing = useChoosing(`${ids} ${paging.page}`);
  const anew = { of: deskNews(desk) };
  const jobs = useLoad((signal) => api.jobs(desk, { ids, select: JOB_FIELDS, limit: PAGE, cursor: paging.cursor }, signal), `${ids} ${paging.cursor ?? ''}`, anew);
  const ended = of.Succeeded + of.Failed + of.Removed;
  return (
    <Shown of={jobs}>
      {({ rows, cursor }) => (
        <>
          <Acts desk={desk} all={rows.map((job) => String(job.Job))} so={cursor || paging.page ? { Ids: ids } : undefined} choosing={choosing} done={jobs.again} />
          <JobTable desk={desk} rows={rows} choosing={choosing} empty="All of it is over." />
          <Pager paging={paging} cursor={cursor} />
          {ended ? <p><a href={routeLink(['jobs'], { desk, show: 'over', search: `Job >= ${of.Submission} && Job <= ${of.Last}` })}>{many(ended, 'job')} of it {ended === 1 ? 'is' : 'are'} over</a></p> : null}
        </>
      )}
    </Shown>
  );
}

const OPENED_MOST = 20;

/** The submissions that the address says are opened. */
const openedIn = (query: Route['query']): string[] => (query.get('open') ?? '').split(',').filter((one) => /^\d{1,15}$/.test(one)).slice(-OPENED_MOST);

function openTurn(submission: number): void {
  const word = String(submission), open = openedIn(route.get().query), next = open.includes(word) ? open.filter((one) => one !== word) : [...open, word].slice(-OPENED_MOST);
  routeGo(routeWith({ open: next.join(), [pageWord(submission)]: undefined }));
}

function SubmissionRow({ desk, of, choosing, open }: { desk: string; of: Submission; choosing: Choosing; open: boolean }): JSX.Element {
  const parts = partsOf(of), ids = of.Jobs === 1 ? String(of.Submission) : `${of.Submission}-${of.Last}`;
  const words = parts.filter(({ part }) => part).map(({ part, words: word }) => (of.Jobs === 1 ? word : `${count(part)} ${word}`)).join(', ');
  return (
    <>
      <tr>
        <td data-name="Choose"><input type="checkbox" aria-label={`Submission ${of.Submission}`} checked={choosing.chosen.has(ids)} onChange={(event) => choosing.pick(ids, event.currentTarget.checked)} /></td>
        <td data-name="Jobs" class="number">{of.Jobs === 1 ? <a href={jobLink(desk, of.Submission)}>{of.Submission}</a> : <button type="button" class="open" aria-expanded={open} onClick={() => openTurn(of.Submission)}>{open ? '▾' : '▸'} {of.Submission}–{of.Last}</button>}</td>
        <td data-name="Progress"><Parts of={parts} label={words} /><small class="under">{words}{of.Estimate === undefined ? '' : `; about ${spanSaid(of.Estimate)} left`}</small>{of.Refused ? <small class="under fault">{count(of.Refused)} cannot be matched: {of.Reason}</small> : null}</td>
        <td data-name="Command" class="coded"><code class="short">{commandOf(of.Cmd, of.Args)}</code>{of.Name ? <small class="under">{of.Name}</small> : null}{of.Workflow ? <small class="under"><a href={workflowLink(desk, of.Workflow)}>workflow {of.Workflow}</a></small> : null}</td>
        <td data-name="Owner">{of.Owner}</td>
        <td data-name="Submitted"><When at={of.Submitted} /></td>
      </tr>
      {open ? <tr class="opened"><td colSpan={6}><div class="inside"><Opened desk={desk} of={of} /></div></td></tr> : null}
    </>
  );
}

const submitLink = (desk: string): string => routeLink(['submit'], { desk });

function SubmissionTable({ desk, rows, choosing }: { desk: string; rows: Submission[]; choosing: Choosing }): JSX.Element {
  const opened = openedIn(useStore(route).query);
  const { drawn, whole } = useSliced(rows.map((of) => {
    const open = of.Jobs > 1 && opened.includes(String(of.Submission));
    return { key: String(of.Submission), of: [of, open], also: choosing.chosen, draw: () => <SubmissionRow key={of.Submission} desk={desk} of={of} choosing={choosing} open={open} /> };
  }), 3);
  return (
    <div class="wide" role="region" aria-label="Submissions" aria-busy={!whole}>
      <table>
        <thead><tr>{['Choose', 'Jobs', 'Progress', 'Command', 'Owner', 'Submitted'].map((name) => <th key={name} scope="col" class={name === 'Jobs' ? 'number' : ''}>{name}</th>)}</tr></thead>
        <tbody>{drawn}</tbody>
      </table>
    </div>
  );
}

const submissionSorts: [string, string, (of: Submission) => number | string][] = [
  ['', 'Oldest first', (of) => of.Submission], ['-Submitted', 'Newest first', (of) => -of.Submitted], ['Left', 'Most left', (of) => -(of.Waiting + of.Running + of.Held)], ['Failed', 'Most failed', (of) => -of.Failed],
  ['Command', 'Command', (of) => commandOf(of.Cmd, of.Args)], ['Owner', 'Owner', (of) => of.Owner],
];

/** A number is a job of it; an expression is about its own attributes; other words are part of what runs, of its name, or of its owner. */
function submissionSearch(text: string): string {
  const search = text.trim();
  if (!search) return '';
  if (/^\d{1,15}$/.test(search)) return `Submission <= ${search} && Last >= ${search}`;
  if (isExpression(search)) return `(${search})`;
  const pattern = JSON.stringify(search.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return `(regexp(${pattern}, Cmd, "i") || regexpMember(${pattern}, Args, "i") || regexp(${pattern}, Name, "i") || regexp(${pattern}, Owner, "i"))`;
}

function SubmissionSearch({ query, go }: { query: Route['query']; go: Go }): JSX.Element {
  const search = query.get('search') ?? '', [text, setText] = useState(search), quiet = useQuiet(text, 350), sort = query.get('sort') ?? '';
  useEffect(() => setText(search), [search]);
  useEffect(() => { if (quiet !== search) go({ search: quiet }); }, [quiet]);
  return (
    <div class="row">
      <input type="search" data-search class="grow" aria-label="Search submissions" placeholder="part of the command, owner, a number, or an expression: Failed > 0" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <label>Sorted{' '}
        <select value={sort} onChange={(event) => go({ sort: event.currentTarget.value })}>{submissionSorts.map(([word, name]) => <option key={word} value={word}>{name}</option>)}</select>
      </label>
    </div>
  );
}

function submissionsSorted(rows: Submission[], sort: string): Submission[] {
  const by = submissionSorts.find(([word]) => word === sort)?.[2] ?? submissionSorts[0]![2], keys = new Map(rows.map((of) => [of, by(of)]));
  return [...rows].sort((a, b) => { const x = keys.get(a)!, y = keys.get(b)!; return (x < y ? -1 : x > y ? 1 : a.Submission - b.Submission); });
}

function Submissions({ desk, query, go }: { desk: string; query: Route['query']; go: Go }): JSX.Element {
  const search = query.get('search') ?? '', constraint = submissionSearch(search), asked = query.get('sort') ?? '', sort = submissionSorts.some(([word]) => word === asked) ? asked : '';
  const large = !!(sort || search), key = JSON.stringify([desk, constraint, sort]), paging = usePaging(key), choosing = useChoosing(`${key} ${paging.page}`);
  const found = useLoad((signal): Promise<Listed<Submission>> => listFill((limit, cursor) => api.submissions(desk, { constraint, limit, cursor }, signal), large ? SORTED_MOST : PAGE, paging.cursor), `${key} ${paging.cursor ?? ''}`, { of: deskNews(desk), least: large ? 10_000 : undefined });
  const { value } = found, sorted = useMemo(() => submissionsSorted(value?.rows ?? [], sort), [value, sort]), [more, setMore] = useState({ key, most: SHOWN }), most = more.key === key ? more.most : SHOWN, shown = sorted.slice(0, most);
  const none = search ? <div class="empty">{value?.cursor ? 'None among these; there are more pages.' : 'No submission is so.'}</div>
    : <div class="empty">Nothing is under way. What was submitted together stands here in one row, with how far it is. <a href={submitLink(desk)}>Submit a job</a>: a command is all that is needed.</div>;
  return (
    <>
      <SubmissionSearch query={query} go={go} />
      <Shown of={found}>
      {({ rows, cursor }) => (
        <>
          {rows.length ? (
            <>
              <Acts desk={desk} all={shown.map((of) => (of.Jobs === 1 ? String(of.Submission) : `${of.Submission}-${of.Last}`))} so={!search && (cursor || paging.page || shown.length < rows.length) ? { Constraint: 'true' } : undefined} choosing={choosing} done={found.again} />
              <SubmissionTable desk={desk} rows={shown} choosing={choosing} />
              {shown.length < rows.length ? <button type="button" onClick={() => setMore({ key, most: most + SHOWN })}>Show more of {count(rows.length)}</button> : null}
            </>
          ) : none}
          {sort && (cursor || paging.page) ? <p class="note">{paging.page ? `These ${count(rows.length)}` : `The first ${count(rows.length)}`} are sorted; the next pages have others.</p> : null}
          <Pager paging={paging} cursor={cursor} />
        </>
      )}
      </Shown>
    </>
  );
}

/* ------------------------------------------------------------------------------------------------------- lists of jobs */

type StateWord = '' | 'waiting' | 'running' | 'held' | 'failed' | 'succeeded' | 'removed';
const states: Record<StateWord, string> = {
  '': '',
  waiting: '(State == "Waiting" || State == "Blocked")',
  running: '(State == "Ready" || State == "Scheduled" || State == "Running")',
  held: 'State == "Held"',
  failed: '(Outcome isnt undefined && Outcome isnt "Succeeded" && Outcome isnt "Removed")',
  succeeded: 'Outcome is "Succeeded"',
  removed: 'Outcome is "Removed"',
};
const nowStates: [StateWord, string][] = [['', 'All'], ['waiting', 'Waiting'], ['running', 'Running'], ['held', 'Held'], ['failed', 'Failed']];
const pastStates: [StateWord, string][] = [['', 'All'], ['succeeded', 'Succeeded'], ['failed', 'Failed'], ['removed', 'Removed']];

const isExpression = (text: string): boolean => /[=<>&|()]|\bis(nt)?\b/.test(text);

/** A number is a job; an expression is itself; other words are part of what runs, or of its name. */
function searchOf(text: string): string {
  const search = text.trim();
  if (!search) return '';
  if (/^\d{1,15}$/.test(search)) return `Job == ${search}`;
  if (isExpression(search)) return `(${search})`;
  const pattern = JSON.stringify(search.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return `(regexp(${pattern}, Cmd, "i") || regexpMember(${pattern}, Args, "i") || regexp(${pattern}, Name, "i") || regexp(${pattern}, Node, "i"))`;
}

const SORTED_MOST = 500, LOOKS_MOST = 10, PART = 250;

/** As many as are wanted. An answer may have fewer though there are more: its customer looks at a number of jobs at a time. */
async function listFill<T>(ask: (limit: number, cursor: string | undefined) => Promise<Listed<T>>, wanted: number, from: string | undefined): Promise<Listed<T>> {
  const rows: T[] = [];
  let cursor: string | null | undefined = from;
  for (let looks = 0; looks < LOOKS_MOST && rows.length < wanted && cursor !== null; looks++) {
    const got: Listed<T> = await ask(Math.min(PART, wanted - rows.length), cursor);
    rows.push(...got.rows);
    ({ cursor } = got);
  }
  return { rows, cursor: cursor ?? null };
}

/** What its customer sorts by, of all jobs, where a column here is one attribute of theirs. */
const attributes: Record<string, string> = { Job: 'Job', State: 'State', Command: 'Cmd', Owner: 'Owner', Where: 'Provider', Submitted: 'Submitted', Ran: 'WallUsed' };
function orderOf(sort: string): string | undefined {
  const name = attributes[sort.replace(/^-/, '')];
  return name && (sort.startsWith('-') ? `-${name}` : name);
}

type Go = (next: Record<string, string | undefined>) => void;

function Filters({ query, go, past }: { query: Route['query']; go: Go; past: boolean }): JSX.Element {
  const search = query.get('search') ?? '', owner = query.get('owner') ?? '', workflow = query.get('workflow') ?? '';
  const [text, setText] = useState(search), [user, setUser] = useState(owner), [flow, setFlow] = useState(workflow);
  const quiet = useQuiet(`${text}\n${user}\n${flow}`, 350);
  useEffect(() => { setText(search); setUser(owner); setFlow(workflow); }, [search, owner, workflow]);
  useEffect(() => {
    const [nextSearch, nextOwner, nextFlow] = quiet.split('\n');
    if (nextSearch !== search || nextOwner !== owner || nextFlow !== workflow) go({ search: nextSearch, owner: nextOwner, workflow: nextFlow });
  }, [quiet]);
  return (
    <>
      <div class="row">
        <input type="search" data-search class="grow" aria-label="Search jobs" placeholder="part of the command, a number, or an expression: RequestMemory > 4G" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <input type="search" aria-label="Owner" placeholder="owner" size={10} value={user} onInput={(event) => setUser(event.currentTarget.value)} />
        <input type="search" aria-label="Workflow" placeholder="workflow" size={9} inputMode="numeric" value={flow} onInput={(event) => setFlow(event.currentTarget.value.replace(/\D/g, ''))} />
      </div>
      <div class="row"><Choice label="State" of={past ? pastStates : nowStates} value={(query.get('state') ?? '') as StateWord} pick={(next) => go({ state: next })} /></div>
    </>
  );
}

function Queue({ desk, query, past, go }: { desk: string; query: Route['query']; past: boolean; go: Go }): JSX.Element {
  const asked = query.get('state') ?? '', state = (asked in states ? asked : '') as StateWord, ids = past ? undefined : query.get('ids') ?? undefined;
  const owner = query.get('owner') ?? '', workflow = query.get('workflow') ?? '';
  const constraint = [states[state], searchOf(query.get('search') ?? ''), owner ? `Owner == ${JSON.stringify(owner)}` : '', /^\d+$/.test(workflow) ? `Workflow == ${workflow}` : ''].filter(Boolean).join(' && ');
  const key = JSON.stringify([desk, past, constraint, ids]), paging = usePaging(key), choosing = useChoosing(`${key} ${paging.page}`);
  const sort = query.get('sort') ?? '', order = past ? undefined : orderOf(sort), large = useRef(false);
  const jobs = useLoad((signal): Promise<Listed<Job>> => (order ? api.jobs(desk, { constraint, ids, select: JOB_FIELDS, limit: SHOWN, cursor: paging.cursor, order }, signal)
    : listFill((limit, cursor) => (past ? api.history : api.jobs)(desk, { constraint, ids, select: JOB_FIELDS, limit, cursor }, signal), sort ? SORTED_MOST : PAGE, paging.cursor)), `${key} ${order ?? sort !== ''} ${paging.cursor ?? ''}`, { of: deskNews(desk), least: large.current ? 10_000 : undefined });
  large.current = !!order || (jobs.value?.rows.length ?? 0) > PAGE;
  const empty = constraint || ids ? 'No job is so.' : past ? <>Jobs that are over stand here, the last first, with how they ended and their files. None is yet. <a href={submitLink(desk)}>Submit one</a></> : <>Jobs that wait, run or are held stand here. There are none now. <a href={submitLink(desk)}>Submit one</a></>;
  return (
    <>
      <Filters key={String(past)} query={query} go={go} past={past} />
      {ids ? <p><button type="button" class="chip" onClick={() => go({ ids: undefined })} aria-label={`Only jobs ${ids}. Show all`}>jobs {ids} ✕</button></p> : null}
      <Shown of={jobs}>
        {({ rows, cursor, whole }) => (
          <>
            {past ? null : <Acts desk={desk} all={rows.map((job) => String(job.Job))} so={cursor || paging.page ? { Ids: ids, Constraint: constraint || (ids ? undefined : 'true') } : undefined} choosing={choosing} done={jobs.again} />}
            <JobTable desk={desk} rows={rows} choosing={past ? undefined : choosing} empty={cursor ? 'None among these; there are more pages.' : empty} past={past} sorting={{ by: sort, pick: (next) => go({ sort: next }), done: whole !== undefined }} />
            {whole === false ? <p class="note">There are more jobs than are looked at for an order: search among them, to have fewer.</p> : null}
            {sort && whole === undefined && (cursor || paging.page) ? <p class="note">{paging.page ? `These ${count(rows.length)}` : `The ${past ? 'last' : 'first'} ${count(rows.length)}`} are sorted; the next pages have others.</p> : null}
            <Pager paging={paging} cursor={cursor} />
          </>
        )}
      </Shown>
    </>
  );
}

const counted: [string, string][] = [['Waiting', 'waiting'], ['Ready', 'ready'], ['Scheduled', 'scheduled'], ['Running', 'running'], ['Held', 'held'], ['Done', 'succeeded'], ['Failed', 'failed'], ['Aborted', 'expired'], ['Cancelled', 'removed'], ['Blocked', 'wait for others']];

function Counts({ desk }: { desk: string }): JSX.Element | null {
  const summary = useLoad((signal) => api.summary(desk, signal), desk, { of: deskNews(desk) });
  const some = counted.map(([name, text]) => [summary.value?.[name as 'Waiting'] ?? 0, text] as const).filter(([n]) => n);
  return some.length ? <p class="counts">{some.map(([n, text]) => <span key={text}><strong>{count(n)}</strong> {n === 1 ? text.replace(/^wait /, 'waits ') : text}</span>)}</p> : null;
}

const shows: [string, string][] = [['', 'Submissions'], ['jobs', 'Jobs'], ['over', 'Over'], ['again', 'Again and again']];

export function JobsView({ query }: { query: Route['query'] }): JSX.Element {
  const asked = query.get('show') ?? '', show = shows.some(([word]) => word === asked) ? asked : '';
  const kept = (): Record<string, string> => Object.fromEntries(query.entries());
  const go: Go = (next) => routeGo(routeLink(['jobs'], { ...kept(), page: undefined, ...next }));
  useTitle('Jobs');
  return (
    <>
      <h1>Jobs</h1>
      <AtDesk named={query.get('desk')} pick={(desk) => go({ desk })}>
        {(desk) => (
          <>
            <div class="row">
              <Choice label="Which jobs" of={shows} value={show} pick={(next) => routeGo(routeLink(['jobs'], { desk: query.get('desk') ?? undefined, show: next }))} />
              <a class="button main" href={submitLink(desk.Agent)}>Submit</a>
            </div>
            <Counts desk={desk.Agent} />
            <Later key={show}>{show === 'again' ? <Crons key={desk.Agent} desk={desk.Agent} /> : show === '' ? <Submissions key={desk.Agent} desk={desk.Agent} query={query} go={go} /> : <Queue key={`${desk.Agent}${show}`} desk={desk.Agent} query={query} past={show === 'over'} go={go} />}</Later>
          </>
        )}
      </AtDesk>
    </>
  );
}
