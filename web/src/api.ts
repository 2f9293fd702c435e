// api.ts: the matchmaker's REST interface, typed. Nothing else in the page calls fetch.
import { session, sessionEnd } from './session';

/* ------------------------------------------------------------------------------------------------------------- values */

export type Value = null | boolean | number | string | Value[] | { [name: string]: Value };
export type Ad = { [name: string]: Value };

export interface Kind { Kind: string; Offers: number; Parted: number; Taken?: number }
export type OutcomeWord = 'waiting' | 'matched' | 'nobody' | 'gave-up' | 'held';
export interface Outcome { Outcome: OutcomeWord; Requests: number; Units: number }
export type MachineState = 'Idle' | 'Part' | 'Busy' | 'Owner' | 'Drained' | 'Sick' | 'Away';
/** Machines by state, and what they have and what of it is in use. */
export type MachineCounts = Record<MachineState, number> & {
  Known: number; Cpus: number; CpusUsed: number; Memory: number; MemoryUsed: number; Disk: number; DiskUsed: number; GpuCount: number; GpusUsed: number;
};
export interface MachinePart { User?: string; Cpus?: number; Memory?: number; GpuCount?: number }
export interface MachineClaim { Claim: string; Owner?: string; Job?: number; Age?: number; Ends?: number; Cpus?: number; Memory?: number; GpuCount?: number }
export interface Machine {
  Name: string; Type?: string; State: MachineState; Pulls: boolean; Since: number; Heard: number; Until?: number; Sure?: boolean; Closes?: number; Words?: string;
  Cpus?: number; CpusUsed?: number; Memory?: number; MemoryUsed?: number; Disk?: number; DiskUsed?: number; GpuCount?: number; GpusUsed?: number;
  LoadAvg?: number; Jobs: number; Elsewhere?: number; Ends?: number; Owner?: string; Id: string; Agent: string; Parts?: MachinePart[]; Claims?: MachineClaim[]; Ad?: Ad;
}
export interface Overview {
  Counted: number; Offers: number; Requests: number; Waiting: number; Claims: number; Matches: number; Cycles: number; Agents: number;
  Kinds: Kind[]; Outcomes: Outcome[]; Machines?: MachineCounts;
}
/** `Never`: not with any machine, whatever the pool holds. */
export interface WaitCount { Code?: string; Reason: string; Requests: number; Units: number; Example?: string; Never?: boolean }
export type Span = 'hour' | 'day' | 'month';
export interface SeriesUser { Name: string; Running: number[]; Waiting: number[] }
export interface Series { Span: Span; At: number[]; Offers: number[]; Claims: number[]; Waiting: number[]; Matches: number[]; Users?: SeriesUser[] }
export interface Match { Request?: string; Offer: string; Owner?: string; Provider?: string; Gang: string; Claim: string; Age: number; Port?: string }
export interface Claim { Claim: string; Gang: string; Owner: string; Provider: string; State: string; Reason?: string; Age?: number; Used: number }
/** What is wrong with ads of jobs, or with a submit file, and the ads that this makes. */
export interface Linted {
  Language: 'ad' | 'submit'; Count: number; Ads?: string; Findings: { Ad: number; Attribute: string; Kind: string; Text: string }[]; Remarks: { Line: number; Column: number; Text: string }[];
  Fault?: string; Line?: number; Column?: number;
}
/** A function of the language. */
export interface Func { Name: string; Arguments: string; Help: string; Classic: boolean; Condor: boolean }
export interface Name { Name: string; Ads: number }
export interface User { Name: string; Usage: number; Factor: number; Priority: number; Claims: number; Units: number }
export interface Ahead { Name: string; Usage: number; Factor: number; Units: number; Priority: number; Group?: string }
export interface Hold { Kind: string; Name?: string; Used?: number; Most?: number; Requests: number }
export interface UserWhy extends User {
  HalfLife: number; UsageLater: number; Requests: number; Place: number; Places: number;
  Group?: string; Quota?: number; GroupUnits?: number; Surplus?: boolean; Pool?: number;
  Ahead: Ahead[]; Holds: Hold[]; AheadAfter?: number; AheadBelowFactor?: number;
}
export interface Group { Name: string; Quota: number; Used: number; Surplus: boolean; Pool: number }
export interface Limit { Name: string; Most?: number; Used: number }
/** A section of what is served to agents, and its last change. */
export interface ConfigSection { Section: string; Options: number; Revision?: number; Time?: number; By?: string }
/** What a section was; without `Section`: it was taken away. */
export interface Revision { Number: number; Time?: number; By?: string; Section?: Ad }
/** `text` is null where there is no such section. */
export interface SectionText { text: string | null; etag: string | null }
export interface Agent {
  Identity: string; Name: string; Agent: string; Since: number; LastWord: number; Host?: string; Version?: string;
  Contact?: string; ContactState?: string; Role?: string; Connected: boolean; Ads: number; Letters: number;
}
export interface Status {
  Name: string; Version: string; Pool: string; Up: number; Ads: number; Agents: number; Matches: number; Claims: number; Cycles: number;
  NotificationsWaiting: number; NotificationsGivenUp: number; Streams: number; Matchmakers?: Replica[];
}
/** A matchmaker of the pool: one leads, the others stand by. */
export interface Replica { Url: string; Who: string; Leads: boolean; Since: number; For: number }
export interface Eval {
  Value?: string; Type?: string; Matches?: boolean;
  LeftConstraint?: string; RightConstraint?: string; LeftRank?: string; RightRank?: string;
  LeftError?: string; LeftLine?: number; LeftColumn?: number;
  RightError?: string; RightLine?: number; RightColumn?: number;
  ExpressionError?: string; ExpressionLine?: number; ExpressionColumn?: number;
}
export interface Found { Id: string; Rank?: number; At?: string; Label?: string }
export interface Changed { Request: string; Now: string[]; NowCount: number; Then: string[]; ThenCount: number }
export interface Compared { rows: Changed[]; changed: number; now: number; then: number; whole: boolean }
export interface Control { Changed: number; Unchanged: number; Missing: number }
export interface Who { Subject: string; Scope?: string; Expires?: number }
export interface Door { Name: string; Title: string }
export interface Root { Name?: string; Url?: string; SignIn?: Door[] }
export interface Audit {
  Number: number; Time: number; By: string; What: string; About: string; From?: string; Via?: string; Result: string; Detail?: string; Count: number; Last?: number;
}
/** What was used, added up; times in seconds, sizes in bytes. */
export interface Used {
  Month?: string; User?: string; Group?: string; Machine?: string; Claims: number; Jobs: number; Wall: number; Cpu: number; Normalised: number;
  CpusHeld: number; GpusHeld: number; UnitsHeld: number; Memory: number; BytesIn: number; BytesOut: number;
}
export interface Desk { Agent: string; Name: string; Identity: string }
/** Something has changed there. */
export interface DeskTold { Agent: string; Changes: number }
export interface Command { Number: number; State: string; Reason?: string; Answer?: { Reason?: string; Words?: string } }
export interface JobFile { Name: string; Size: number; Kind: string; Whole: boolean }
export interface Summary {
  Total: number; Waiting: number; Ready: number; Scheduled: number; Running: number; Held: number;
  Done: number; Failed: number; Aborted: number; Cancelled: number; Blocked: number;
}
export interface Job {
  Job: number; Cmd: string; State: string; Submitted?: number; Started?: number; Since?: number; Provider?: string; Tries?: number;
  Reason?: string; Status?: number; Outcome?: string; ExitCode?: number; Signal?: number; Message?: string; Progress?: number; Ended?: number; Owner?: string; Request?: string;
  Matched?: number; Delivered?: number; WallUsed?: number; CpuUsed?: number; MemoryUsed?: number; Workflow?: number; Node?: string;
  Samples?: { Span: number; Memory?: number[]; CpuPercent?: number[]; GpuPercent?: number[]; GpuMemory?: number[] };
  Claiming?: number; Alike?: number; Rejected?: number; RejectedBy?: string; RejectedFor?: string; OfferedIn?: number; WaitsUntil?: number; PlannedStart?: number; PlannedMachine?: string; [name: string]: Value | undefined;
}

/** A job that comes again by a schedule. */
export interface Cron {
  Cron: number; Owner: string; Schedule: string; Held: boolean; Runs: number; Skipped: number; Next?: number; Waits?: boolean; Reason?: string;
  Last?: number; LastJob?: number; LastCount?: number; LastState?: string;
}

/** Jobs that were submitted together, counted. */
export interface Submission {
  Submission: number; Last: number; Jobs: number; Cmd: string; Args?: Value; Name?: string; Owner: string; Submitted: number; Workflow?: number;
  Waiting: number; Running: number; Held: number; Succeeded: number; Failed: number; Removed: number;
  Refused?: number; RefusedJob?: number; Reason?: string; Started?: number; Estimate?: number;
}

/** A workflow, by its jobs: all but the first four are counts of them. */
export interface Workflow {
  Workflow: number; Dag?: string; Owner: string; Submitted: number; Jobs: number; Done: number; Running: number; Waiting: number;
  Blocked: number; Stuck: number; Failed: number; Held: number; Removed: number;
}

/* docs/why.md */
export interface Clause {
  clause: number; text: string; means: string; attribute: string; more?: number;
  alone: number; left: number; undefined: number; error: number; by_time: boolean;
}
export interface Read { name: string; value: string | null }
export interface Refusal { clause: string; offers: number; fitting?: number; first: string; reads: Read[] }
export interface Hint { kind: string; clause: number; name: string; offers: number; nearest?: string | null; nearest_offers?: number; found?: string; wanted?: string }
export interface Change { kind: 'clause' | 'drop' | 'attribute'; clause?: number; attribute?: string; from: string | null; to: string | null }
export interface Edit { opens: number; changes: Change[] }
export interface Looked {
  verdict: string; unseen: number; offers: number; fitting: number; accepting: number; matching: number;
  clauses: Clause[]; conflicts: { clauses: number[]; kind: string }[];
  blocking: { clauses: number[]; offers: boolean; opens: number }[]; blocking_complete: boolean;
  refusals: Refusal[]; refusals_complete: boolean; hints: Hint[]; edits: Edit[]; edits_complete: boolean;
}
export interface Choice { offer: string; second?: string | null; reason: string; component?: number; text?: string; value?: string; second_value?: string }
/** What only the pool knows of an ad that is explained. */
export interface Reason { code: string; text: string; machines?: number; do?: string }
/** When it may start, as far as that is known: seconds from now. */
export interface Start { kind: 'planned' | 'limit' | 'unknown'; to?: number; from?: number; on?: string; why?: string }
export interface Standing { start?: Start; first?: string; reasons?: Reason[]; taken?: number; hold?: { kind: string; name?: string; used?: number; most?: number; text: string } | null }
export interface Why extends Looked, Standing { request?: string; offer?: string; case?: string; discarded?: boolean; ported?: number; choice?: Choice | null }
export interface Port extends Looked { port: string; least: number; most: number; doubtful: number; later: unknown[] }
export type Docked = { [label: string]: string | null | string[] };
export interface Denied { offers: number; clause: string; of: string | null }
export interface Died {
  port: string; docked: Docked; fitting: number; taken: number; clause: string | null; means: string | null;
  refusing: number; refusals: Refusal[]; denied: Denied | null; empty: Denied | null;
}
export interface GangWhy extends Standing {
  request?: string; verdict: string; offers: number; broken: number; gang: Docked | null; ports: Port[];
  together: string[]; smallest: boolean; minimal: boolean; died: Died | null;
}
export type Explained = Why | GangWhy;
export const isGang = (why: Explained): why is GangWhy => 'ports' in why;

/* -------------------------------------------------------------------------------------------------------------- calls */

export class ApiError extends Error {
  constructor(readonly status: number, readonly title: string, readonly detail: string) {
    super(detail);
  }
  /** Where in what was sent, when the answer says so. */
  get place(): { line: number; column: number } | null {
    const found = /line (\d+), column (\d+)/.exec(this.detail) ?? /(?:^|\s)(\d+):(\d+): /.exec(this.detail);
    return found ? { line: Number(found[1]), column: Number(found[2]) } : null;
  }
}

interface Call {
  method?: string;
  query?: Record<string, string | number | boolean | undefined>;
  body?: string | Uint8Array<ArrayBuffer>;
  type?: string;
  accept?: string;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  open?: boolean; // without a token
  same?: boolean; // a POST or PUT that may come twice
}

export const CLASSAD = 'application/classad';
const JSON_TYPE = 'application/json';

async function problemOf(answer: Response): Promise<ApiError> {
  const text = await answer.text().catch(() => '');
  try {
    const said = JSON.parse(text) as { title?: string; detail?: string };
    return new ApiError(answer.status, said.title ?? answer.statusText, said.detail ?? said.title ?? `status ${answer.status}`);
  } catch {
    return new ApiError(answer.status, answer.statusText, text.slice(0, 300) || `status ${answer.status}`);
  }
}

/* Browsers drop what is under way when an interface comes or goes (a cable, a container), though the matchmaker is there all the time. */
const AGAIN = [150, 600]; // milliseconds

const dropped = (thrown: unknown, signal?: AbortSignal): boolean => thrown instanceof TypeError && !signal?.aborted;

async function once(path: string, what: Call): Promise<Response> {
  const { token } = session.get();
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(what.query ?? {})) if (value !== undefined && value !== '') query.set(name, String(value));
  const headers: Record<string, string> = { Accept: what.accept ?? JSON_TYPE, ...what.headers };
  if (token && !what.open) headers.Authorization = `Bearer ${token}`;
  if (what.body !== undefined) headers['Content-Type'] = what.type ?? JSON_TYPE;
  const answer = await fetch(path + (query.size ? `?${query}` : ''), {
    method: what.method ?? (what.body === undefined ? 'GET' : 'POST'),
    headers, body: what.body, signal: what.signal, credentials: 'omit', cache: 'no-store',
  });
  if (answer.ok) return answer;
  const problem = await problemOf(answer);
  if (answer.status === 401 && !what.open && session.get().token === token) sessionEnd(`The token was refused: ${problem.detail}.`);
  throw problem;
}

/** What is read from the answer. A question that changes nothing, or the same however often it comes, is asked again when it is dropped on the way. */
async function call<T>(path: string, what: Call, read: (answer: Response) => T | Promise<T>): Promise<T> {
  const waits = (what.method ?? (what.body === undefined ? 'GET' : 'POST')) === 'GET' || what.same ? AGAIN : [];
  for (let turn = 0;; turn++) {
    try {
      return await read(await once(path, what));
    } catch (thrown) {
      if (!dropped(thrown, what.signal)) throw thrown;
      const wait = waits[turn];
      if (wait === undefined) throw new ApiError(0, 'No answer', 'The matchmaker does not answer.');
      await new Promise((resolve) => setTimeout(resolve, wait));
      what.signal?.throwIfAborted();
    }
  }
}

function json<T>(path: string, what: Call = {}): Promise<T> {
  return call(path, what, async (answer) => (await answer.json()) as T);
}

/** `whole`: in an order that was asked for; false: not all that there is was looked at. */
export interface Listed<T> { rows: T[]; cursor: string | null; whole?: boolean }

function list<T>(path: string, what: Call = {}): Promise<Listed<T>> {
  return call(path, what, async (answer) => ({
    rows: (await answer.json()) as T[], cursor: answer.headers.get('Berth-Cursor'), ...(answer.headers.has('Berth-Whole') ? { whole: answer.headers.get('Berth-Whole') === 'true' } : {}),
  }));
}

export interface AdText { text: string; type: string; etag: string | null }

function text(path: string, what?: Call): Promise<AdText> {
  return call(path, { accept: CLASSAD, ...what }, async (answer) => (
    { text: (await answer.text()).trim(), type: answer.headers.get('Content-Type') ?? CLASSAD, etag: answer.headers.get('ETag') }
  ));
}

/** The rest of a file that grows. */
export interface Piece { text: Uint8Array; size: number | null; whole: boolean | null }

function piece(path: string, what: Call): Promise<Piece> {
  return call(path, what, async (answer) => {
    const size = answer.headers.get('Berth-Size'), whole = answer.headers.get('Berth-Whole');
    return { text: new Uint8Array(await answer.arrayBuffer()), size: size === null ? null : Number(size), whole: whole === null ? null : whole === 'true' };
  });
}

const word = encodeURIComponent;

/** As what an ad meets the others. */
export type Side = 'request' | 'offer';

export interface AdQuery { constraint?: string; kind?: string; outcome?: string; select?: string; limit?: number; cursor?: string }

export const api = {
  redeem: (code: string) => json<Who & { Token: string }>('/v1/session', { body: JSON.stringify({ Code: code }), open: true }),
  root: (signal?: AbortSignal) => json<Root>('/v1', { signal, open: true }),
  who: (signal?: AbortSignal) => json<Who>('/v1/whoami', { signal }),

  overview: (signal?: AbortSignal) => json<Overview>('/v1/overview', { signal }),
  reasons: (signal?: AbortSignal) => json<WaitCount[]>('/v1/reasons', { signal }),
  series: (span: Span, signal?: AbortSignal) => json<Series>('/v1/series', { query: { span, by: 'user' }, signal }),
  status: (signal?: AbortSignal) => json<Status>('/v1/status', { signal }),
  metrics: (signal?: AbortSignal) => call('/metrics', { accept: 'application/openmetrics-text', signal }, (answer) => answer.text()),
  matches: (limit: number, signal?: AbortSignal) => list<Match>('/v1/matches', { query: { limit }, signal }),
  claims: (limit: number, signal?: AbortSignal) => list<Claim>('/v1/claims', { query: { limit }, signal }),
  /** Claims on what an agent offers, as far as they are remembered and the caller may see them. */
  claimsAt: (provider: string, limit: number, signal?: AbortSignal) => list<Claim>('/v1/claims', { query: { constraint: `Provider == ${JSON.stringify(provider)}`, limit }, signal }),
  watch: (desks: string[], signal: AbortSignal) => call('/v1/watch', { accept: 'text/event-stream', query: { desk: desks.join() }, signal }, (answer) => answer),

  ads: (query: AdQuery, signal?: AbortSignal) => list<Ad>('/v1/ads', { query: { ...query }, signal }),
  /** Can ads be listed by what became of their last try? */
  listsOutcomes: async (signal?: AbortSignal) => /"outcome"/.test(await call('/openapi.json', { signal }, (answer) => answer.text())),
  names: (prefix: string, kind: string | undefined, limit: number, signal?: AbortSignal) =>
    json<Name[]>('/v1/names', { query: { prefix, kind, limit }, signal }),
  ad: (id: string, signal?: AbortSignal) => text(`/v1/ads/${word(id)}`, { signal }),
  adMatches: (id: string, signal?: AbortSignal) => json<Match[]>(`/v1/ads/${word(id)}/matches`, { signal }),
  adWhy: (id: string, signal?: AbortSignal) => json<Explained>(`/v1/ads/${word(id)}/why`, { signal }),
  adWhyText: async (id: string, signal?: AbortSignal) => (await text(`/v1/ads/${word(id)}/why`, { accept: 'text/plain', signal })).text,
  match: (ad: string, type: string, kind: Side, limit: number, signal?: AbortSignal) => json<Found[]>('/v1/match', { body: ad, type, query: { kind, limit }, signal, same: true }),
  matchWhy: (ad: string, type: string, kind: Side, signal?: AbortSignal) => json<Explained>('/v1/match', { body: ad, type, query: { why: true, kind }, signal, same: true }),
  evaluate: (left: string, right: string, expression: string, dialect: string, signal?: AbortSignal) =>
    json<Eval>('/v1/eval', { body: JSON.stringify({ Left: left, Right: right, Expression: expression, Dialect: dialect }), signal, same: true }),

  lint: (ads: string, signal?: AbortSignal) => json<Linted>('/v1/lint', { body: JSON.stringify({ Text: ads }), signal, same: true }),
  functions: (signal?: AbortSignal) => json<Func[]>('/v1/functions', { signal }),

  sections: (signal?: AbortSignal) => list<ConfigSection>('/v1/config', { signal }),
  /** What a section is; with `wait`, when it is another than what is known, or after so many seconds. */
  section: (name: string, known?: SectionText, wait?: number, signal?: AbortSignal): Promise<SectionText> =>
    text(`/v1/config/${word(name)}`, { query: { wait }, headers: known?.etag ? { 'If-None-Match': known.etag } : {}, signal }).then(({ text: ad, etag }) => ({ text: ad, etag })).catch((thrown: unknown) => {
      if (thrown instanceof ApiError && thrown.status === 304 && known) return known;
      if (thrown instanceof ApiError && thrown.status === 404) return { text: null, etag: null };
      throw thrown;
    }),
  sectionPut: (name: string, ad: string, etag: string | null) => text(`/v1/config/${word(name)}`, { method: 'PUT', body: ad, type: CLASSAD, headers: etag ? { 'If-Match': etag } : { 'If-None-Match': '*' } }),
  sectionDelete: (name: string, etag: string | null) => call(`/v1/config/${word(name)}`, { method: 'DELETE', headers: etag ? { 'If-Match': etag } : {} }, () => undefined),
  revisions: (name: string, signal?: AbortSignal) => list<Revision>(`/v1/revisions/${word(name)}`, { signal }),
  revisionBack: (name: string, number: number, etag: string | null) => call(`/v1/revisions/${word(name)}/${number}`, { method: 'POST', headers: etag ? { 'If-Match': etag } : {} }, () => undefined),

  policy: (signal?: AbortSignal) => text('/v1/policy', { signal }),
  policyPut: (ad: string, etag: string | null) =>
    text('/v1/policy', { method: 'PUT', body: ad, type: CLASSAD, headers: etag ? { 'If-Match': etag } : {} }),
  policyCompare: (ad: string, limit: number, idle: boolean, signal?: AbortSignal): Promise<Compared> =>
    call('/v1/policy/try', { body: ad, type: CLASSAD, query: { compare: true, idle: idle || undefined, limit }, signal, same: true }, async (answer) => {
      const number = (name: string): number => Number(answer.headers.get(name) ?? 0);
      return { rows: (await answer.json()) as Changed[], changed: number('Berth-Changed'), now: number('Berth-Matches-Now'), then: number('Berth-Matches'), whole: answer.headers.get('Berth-Whole') !== 'false' };
    }),

  users: (query: { constraint?: string; limit: number; cursor?: string }, signal?: AbortSignal) => list<User>('/v1/users', { query, signal }),
  userWhy: (name: string, signal?: AbortSignal) => json<UserWhy>(`/v1/users/${word(name)}/why`, { signal }),
  usage: (query: { by: string; since?: string; until?: string; user?: string; group?: string; limit: number; cursor?: string }, signal?: AbortSignal) => list<Used>('/v1/usage', { query, signal }),
  groups: (signal?: AbortSignal) => list<Group>('/v1/groups', { query: { limit: 200 }, signal }),
  limits: (signal?: AbortSignal) => list<Limit>('/v1/limits', { query: { limit: 200 }, signal }),
  /** Groups, quotas and limits as they were written. */
  shares: (signal?: AbortSignal) => call('/v1/shares', { signal }, async (answer) => ({ ad: (await answer.json()) as Ad, etag: answer.headers.get('ETag') })),
  sharesPut: (ad: Ad, etag: string | null) => json<Ad>('/v1/shares', { method: 'PUT', body: JSON.stringify(ad), headers: etag ? { 'If-Match': etag } : {} }),
  machines: (query: { constraint?: string; select?: string; limit: number; cursor?: string; order: 'name' }, signal?: AbortSignal) => list<Machine>('/v1/machines', { query, signal }),
  machine: (name: string, signal?: AbortSignal) => json<Machine>(`/v1/machines/${word(name)}`, { signal }),
  /** One that is away is forgotten until it is heard of again. */
  machineForget: (id: string) => call(`/v1/machines/${word(id)}`, { method: 'DELETE' }, () => undefined),
  /** Tells a machine's agent to take no more jobs, or to take jobs again; the command, whose answer can be waited for. */
  command: (agent: string, what: { Command: 'drain' | 'resume'; Now?: boolean }) => json<Command>(`/v1/agents/${word(agent)}/commands`, { body: JSON.stringify(what) }),
  commanded: (number: number, wait: number, signal?: AbortSignal) => json<Command>(`/v1/commands/${number}`, { query: { wait }, signal }),
  agents: (limit: number, cursor?: string, signal?: AbortSignal) => list<Agent>('/v1/agents', { query: { limit, cursor }, signal }),

  /** What was changed: in the pool, or, where a desk is named, at that customer. */
  audit: (desk: string | undefined, query: { constraint?: string; limit: number }, signal?: AbortSignal) =>
    list<Audit>(desk ? `/v1/desk/${word(desk)}/audit` : '/v1/audit', { query, signal }),
  customers: (signal?: AbortSignal) => list<Agent>('/v1/agents', { query: { limit: 20, constraint: 'Role == "customer"' }, signal }),
  desks: (signal?: AbortSignal) => json<Desk[]>('/v1/desks', { signal }),
  jobs: (desk: string, query: { constraint?: string; select?: string; ids?: string; limit: number; cursor?: string; order?: string }, signal?: AbortSignal) =>
    list<Job>(`/v1/desk/${word(desk)}/jobs`, { query, signal }),
  history: (desk: string, query: { constraint?: string; select?: string; ids?: string; limit: number; cursor?: string }, signal?: AbortSignal) => list<Job>(`/v1/desk/${word(desk)}/history`, { query, signal }),
  summary: (desk: string, signal?: AbortSignal) => json<Summary>(`/v1/desk/${word(desk)}/summary`, { signal }),
  submissions: (desk: string, query: { constraint?: string; limit: number; cursor?: string }, signal?: AbortSignal) => list<Submission>(`/v1/desk/${word(desk)}/submissions`, { query, signal }),
  workflows: (desk: string, query: { limit: number; cursor?: string }, signal?: AbortSignal) => list<Workflow>(`/v1/desk/${word(desk)}/workflows`, { query, signal }),
  job: (desk: string, id: string, signal?: AbortSignal) => json<Job>(`/v1/desk/${word(desk)}/jobs/${word(id)}`, { signal }),
  jobAd: (desk: string, id: string, signal?: AbortSignal) => text(`/v1/desk/${word(desk)}/jobs/${word(id)}`, { signal }),
  jobFiles: (desk: string, id: string, signal?: AbortSignal) => json<JobFile[]>(`/v1/desk/${word(desk)}/jobs/${word(id)}/files`, { signal }),
  jobLog: (desk: string, id: string, offset: number, wait: number, signal?: AbortSignal) =>
    piece(`/v1/desk/${word(desk)}/jobs/${word(id)}/log`, { accept: 'text/plain', query: { offset, wait }, signal }),
  jobFile: (desk: string, id: string, kind: string, name: string, offset: number, wait: number, signal?: AbortSignal) =>
    piece(`/v1/desk/${word(desk)}/jobs/${word(id)}/files/${word(kind)}/${name.split('/').map(word).join('/')}`, {
      accept: 'application/octet-stream', query: { offset, wait }, signal,
    }),
  submit: (desk: string, ads: string, key: string) =>
    json<{ First: number; Count: number }[]>(`/v1/desk/${word(desk)}/jobs`, { body: ads, type: CLASSAD, query: { key }, same: true }), // by its key
  spoolHas: (desk: string, hash: string) =>
    call(`/v1/desk/${word(desk)}/spool/${hash}`, {}, () => true).catch((thrown: unknown) => {
      if (thrown instanceof ApiError && thrown.status === 404) return false;
      throw thrown;
    }),
  spoolPut: (desk: string, hash: string, offset: number, size: number, bytes: Uint8Array): Promise<{ have: number; whole: boolean }> =>
    call(`/v1/desk/${word(desk)}/spool/${hash}`, { method: 'PUT', body: new Uint8Array(bytes), type: 'application/octet-stream', query: { offset, size } }, async (answer) => (
      { have: ((await answer.json()) as { Have: number }).Have, whole: answer.headers.get('Berth-Whole') === 'true' }
    )),
  /** One request looks at a number of jobs, and says from which on the rest is to be asked for. */
  crons: (desk: string, signal?: AbortSignal) => list<Cron>(`/v1/desk/${word(desk)}/crons`, { signal }),
  cronTurn: (desk: string, cron: number, verb: 'hold' | 'release') => json<Cron>(`/v1/desk/${word(desk)}/crons/${cron}/${verb}`, { method: 'POST' }),
  async control(desk: string, verb: 'hold' | 'release' | 'remove' | 'rescue', which: { Ids?: string; Constraint?: string }, why: string): Promise<Control> {
    const sums: Control = { Changed: 0, Unchanged: 0, Missing: 0 };
    for (let from: number | undefined = 1; from;) {
      const part: Control & { Next?: number } = await json(`/v1/desk/${word(desk)}/control`, { body: JSON.stringify({ Verb: verb, ...which, Why: why, From: from }) });
      for (const name of ['Changed', 'Unchanged', 'Missing'] as const) sums[name] += part[name];
      from = part.Next;
    }
    return sums;
  },
};
