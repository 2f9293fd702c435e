// machines.tsx: all machines, as tiles or as a list, however many there are: what is in the window is drawn, and what is drawn is asked for.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type ApiError, type Machine, type MachineCounts, type MachinePart, type MachineState } from '../api';
import { bytes, clock, count, many, moment, real, span, spanSaid } from '../format';
import { useQuiet, useTitle, useWidth } from '../hooks';
import { live } from '../live';
import { poolNews } from '../news';
import { userClass } from '../people';
import { routeGo, routeLink, type Route } from '../route';
import { useStore } from '../store';
import { Bar, Choice, Figure, Problem, Tag } from '../ui';
import { machineStates } from '../words';
import { machineLink } from './machine_act';

/** The time of day in so many seconds; with the date when that is not today or tomorrow night. */
export function timeIn(seconds: number): string {
  const at = Date.now() / 1000 + seconds + 2; // what comes at 20:00 is not called 19:59
  return seconds < 20 * 3600 ? clock(at).slice(0, 5) : moment(at).slice(0, 16);
}

export function back(machine: Machine): string | undefined {
  return machine.State === 'Owner' && machine.Sure && machine.Until !== undefined ? timeIn(machine.Until) : undefined;
}

/** What there is to say of the state, in a few words: when it changes, where that is known. */
export function note(machine: Machine): string {
  const opens = back(machine);
  if (opens) return `until ${opens}`;
  if (machine.State === 'Owner' || machine.State === 'Sick') return machine.Words ?? '';
  if (machine.State === 'Away') return `last heard ${spanSaid(machine.Heard)} ago`;
  if (machine.State === 'Busy' && machine.Ends !== undefined) return `first ends in ${spanSaid(machine.Ends)}`;
  if (machine.Closes !== undefined) return `lets jobs in until ${timeIn(machine.Closes)}`;
  return machine.Pulls && (machine.State === 'Idle' || machine.State === 'Part') ? 'pulls' : '';
}

export function StateTag({ state }: { state: MachineState }): JSX.Element {
  const [tone, means] = machineStates[state] ?? [];
  return <span title={means}><Tag tone={tone}>{state}</Tag></span>;
}

export function Used({ all, used = 0, show }: { all?: number; used?: number; show: (n: number) => string }): JSX.Element | null {
  if (!all) return null;
  return <>{show(used)} of {show(all)} <Bar part={used / all} /></>;
}

function Totals({ of }: { of: MachineCounts }): JSX.Element {
  const states = (Object.keys(machineStates) as MachineState[]).filter((state) => of[state]);
  return (
    <dl class="figures">
      <Figure name="Machines" value={count(of.Known)} note={states.map((state) => `${count(of[state])} ${state}`).join(', ')} />
      <Figure name="Processors in use" value={`${real(of.CpusUsed)} of ${real(of.Cpus)}`} part={of.CpusUsed / (of.Cpus || 1)} />
      <Figure name="Memory in use" value={`${bytes(of.MemoryUsed)} of ${bytes(of.Memory)}`} part={of.MemoryUsed / (of.Memory || 1)} />
      {of.GpuCount ? <Figure name="GPUs in use" value={`${real(of.GpusUsed)} of ${real(of.GpuCount)}`} part={of.GpusUsed / of.GpuCount} /> : null}
    </dl>
  );
}

/* ---------------------------------------------------------------------------------------------------------- processors */

const CELLS = 32; // processors that are drawn one by one

/** Who has what of it. A job that does not say how many processors it wants has as much of the rest as its likes. */
export function partsOf(machine: Machine): MachinePart[] {
  const parts = machine.Parts ?? [], silent = parts.filter((part) => part.Cpus === undefined).length;
  const rest = Math.max(0, (machine.CpusUsed ?? 0) - parts.reduce((sum, part) => sum + (part.Cpus ?? 0), 0));
  return parts.map((part) => (part.Cpus === undefined && rest ? { ...part, Cpus: rest / silent } : part));
}

/** A machine's processors, those in use in the colour of whose job has them. */
export function Cells({ machine }: { machine: Machine }): JSX.Element {
  const all = machine.Cpus ?? 0, each = all > CELLS ? all / CELLS : 1, cells = Math.min(CELLS, Math.ceil(all)), away = machine.State === 'Away';
  const colours: string[] = [];
  let at = 0;
  const fill = (cpus: number, tone: string): void => {
    for (at += cpus / each; colours.length < Math.min(cells, Math.round(at));) colours.push(tone);
  };
  for (const part of partsOf(machine)) fill(part.Cpus ?? 0, userClass(part.User));
  fill(Math.max(0, (machine.CpusUsed ?? 0) - at * each), userClass(undefined));
  return <span class={`cells ${away ? 'away' : ''}`} aria-hidden="true">{Array.from({ length: cells }, (_, i) => <span key={i} class={colours[i] ?? ''} />)}</span>;
}

function usersOf(machine: Machine): string {
  const cpus = new Map<string, number>();
  for (const part of partsOf(machine)) if (part.User !== undefined) cpus.set(part.User, (cpus.get(part.User) ?? 0) + (part.Cpus ?? 0));
  return [...cpus].map(([user, n]) => (n ? `${user} ${real(n)}` : user)).join(', ');
}

function Gauge({ name, all, used = 0, show }: { name: string; all?: number; used?: number; show: (n: number) => string }): JSX.Element | null {
  if (!all) return null;
  return <span class="gauge"><span>{name}</span><Bar part={used / all} /><span>{show(used)} of {show(all)}</span></span>;
}

function Tile({ machine }: { machine: Machine }): JSX.Element {
  const users = usersOf(machine), said = note(machine);
  return (
    <a class="tile" href={machineLink(machine.Name)}>
      <span class="tile-head"><strong class="cut">{machine.Name}</strong><StateTag state={machine.State} /></span>
      <Cells machine={machine} />
      <span class="gauge"><span>processors</span><span /><span>{real(machine.CpusUsed ?? 0)} of {real(machine.Cpus ?? 0)}{machine.LoadAvg === undefined ? '' : `, load ${machine.LoadAvg.toFixed(1)}`}</span></span>
      <Gauge name="memory" all={machine.Memory} used={machine.MemoryUsed} show={bytes} />
      <Gauge name="GPUs" all={machine.GpuCount} used={machine.GpusUsed} show={real} />
      <span class="cut quiet" title={[users, said].filter(Boolean).join('; ')}>{[users, said].filter(Boolean).join('; ') || `for ${spanSaid(machine.Since)}`}</span>
    </a>
  );
}

function Line({ machine }: { machine: Machine }): JSX.Element {
  return (
    <div class="tile line" role="row">
      <span role="cell" class="cut"><a href={machineLink(machine.Name)}>{machine.Name}</a></span>
      <span role="cell"><StateTag state={machine.State} /></span>
      <span role="cell" class="number"><Used all={machine.Cpus} used={machine.CpusUsed} show={real} /></span>
      <span role="cell" class="number"><Used all={machine.Memory} used={machine.MemoryUsed} show={bytes} /></span>
      <span role="cell" class="number"><Used all={machine.GpuCount} used={machine.GpusUsed} show={real} /></span>
      <span role="cell" class="number">{machine.LoadAvg === undefined ? '' : machine.LoadAvg.toFixed(1)}</span>
      <span role="cell" class="number">{count(machine.Jobs)}</span>
      <span role="cell" class="number">{span(machine.Since)}</span>
      <span role="cell" class="cut" title={note(machine)}>{note(machine)}</span>
    </div>
  );
}

/* ------------------------------------------------------------------------------------------------- what is in the window */

const CHUNK = 250, AGAIN = 3000;
const FIELDS = 'Name,State,Pulls,Since,Heard,Until,Sure,Closes,Words,Cpus,CpusUsed,Memory,MemoryUsed,GpuCount,GpusUsed,LoadAvg,Jobs,Ends,Parts,Id,Agent';

interface Chunk {
  cursor: string | undefined; // where it begins
  rows: Machine[];
  at: number; // when it was asked for
}

/** A list that is asked for a chunk after the other, as far as it is looked at; chunks that are looked at are asked for anew when there is news. */
class Machines {
  chunks: Chunk[] = [];
  more = true;
  error?: ApiError;
  private readonly abort = new AbortController();
  private busy = false;
  private wanted = 0;
  private window: [number, number] = [0, 0];
  private stale = false;
  private timer = 0;
  private readonly leave: () => void;

  constructor(private readonly constraint: string, private readonly changed: () => void) {
    this.leave = poolNews.watch(() => { this.stale = true; this.later(); });
  }

  stop(): void {
    this.abort.abort();
    this.leave();
    clearTimeout(this.timer);
  }

  get count(): number {
    return this.chunks.reduce((sum, chunk) => sum + chunk.rows.length, 0);
  }

  row(place: number): Machine | undefined {
    for (const chunk of this.chunks) {
      if (place < chunk.rows.length) return chunk.rows[place];
      place -= chunk.rows.length;
    }
    return undefined;
  }

  look(from: number, to: number): void {
    this.window = [from, to];
    this.wanted = to;
    void this.fill();
  }

  private async ask(cursor: string | undefined): Promise<{ rows: Machine[]; cursor: string | null }> {
    return api.machines({ constraint: this.constraint, select: FIELDS, limit: CHUNK, cursor, order: 'name' }, this.abort.signal);
  }

  private next: string | undefined;

  private async fill(): Promise<void> {
    if (this.busy || this.abort.signal.aborted) return;
    this.busy = true;
    try {
      while (this.more && this.count <= this.wanted) {
        const at = Date.now(), got = await this.ask(this.next);
        this.chunks = [...this.chunks, { cursor: this.next, rows: got.rows, at }];
        this.more = got.cursor !== null;
        this.next = got.cursor ?? undefined;
        this.error = undefined;
        this.changed();
      }
    } catch (thrown) {
      if (this.abort.signal.aborted) return;
      this.error = thrown as ApiError;
      this.changed();
    }
    this.busy = false;
  }

  private later(): void {
    if (this.timer || document.hidden) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      if (this.stale && !this.abort.signal.aborted) void this.again();
    }, AGAIN);
  }

  /** The chunks in the window, anew. What was inserted or has gone shifts rows until the list is opened again; nothing is shown twice for long. */
  private async again(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.stale = false;
    try {
      let first = 0;
      for (let i = 0; i < this.chunks.length; i++) {
        const chunk = this.chunks[i]!, last = first + chunk.rows.length, seen = (first < this.window[1] && last > this.window[0]) || this.chunks.length === 1;
        first = last;
        if (!seen) continue;
        const at = Date.now(), got = await this.ask(chunk.cursor);
        this.chunks = this.chunks.map((old, k) => (k === i ? { ...old, rows: got.rows, at } : old));
        if (i === this.chunks.length - 1) { this.more = got.cursor !== null; this.next = got.cursor ?? undefined; }
      }
      this.error = undefined;
    } catch (thrown) {
      if (!this.abort.signal.aborted) this.error = thrown as ApiError;
    }
    this.busy = false;
    if (!this.abort.signal.aborted) this.changed();
  }
}

const TILE = { width: 232, height: 160, gap: 10 }, LINE = 34, AROUND = 3;

function Window({ constraint, tiles, known, filtered }: { constraint: string; tiles: boolean; known: number; filtered: boolean }): JSX.Element {
  const { of, width } = useWidth(), [, setTurn] = useState(0), [view, setView] = useState<[number, number]>([0, 12]);
  const list = useRef<Machines | null>(null);
  const narrow = width > 0 && width < 620, asTiles = tiles || narrow;
  useEffect(() => {
    const made = new Machines(constraint, () => setTurn((n) => n + 1));
    list.current = made;
    made.look(0, 60);
    setTurn((n) => n + 1);
    return () => made.stop();
  }, [constraint]);
  const columns = asTiles ? Math.max(1, Math.floor((width + TILE.gap) / (TILE.width + TILE.gap))) : 1, height = asTiles ? TILE.height + TILE.gap : LINE;
  useEffect(() => {
    const look = (): void => {
      const box = of.current?.getBoundingClientRect();
      if (!box) return;
      const from = Math.max(0, Math.floor(-box.top / height) - AROUND), to = Math.max(from + 1, Math.ceil((innerHeight - box.top) / height) + AROUND);
      setView((old) => (old[0] === from && old[1] === to ? old : [from, to]));
    };
    look();
    addEventListener('scroll', look, { passive: true });
    addEventListener('resize', look);
    return () => {
      removeEventListener('scroll', look);
      removeEventListener('resize', look);
    };
  }, [height, width]);
  useEffect(() => list.current?.look(view[0] * columns, view[1] * columns + CHUNK / 2), [view, columns, constraint]);
  const there = list.current, have = there?.count ?? 0, all = there?.more ? Math.max(have + columns, filtered ? 0 : known) : have;
  const lines = Math.ceil(all / columns), from = Math.min(view[0], Math.max(0, lines - 1)), to = Math.min(view[1], lines);
  const shown: JSX.Element[] = [];
  for (let place = from * columns; place < Math.min(to * columns, all); place++) {
    const machine = there?.row(place);
    shown.push(machine ? (asTiles ? <Tile key={machine.Agent + machine.Id} machine={machine} /> : <Line key={machine.Agent + machine.Id} machine={machine} />) : <span key={`empty ${place}`} class={asTiles ? 'tile' : 'tile line'} aria-hidden="true" />);
  }
  return (
    <>
      <Problem error={there?.error} />
      <p class="quiet" role="status">{there?.more ? (filtered ? `${count(have)} and more` : many(Math.max(known, have), 'machine')) : many(have, 'machine')}</p>
      {there && !there.more && !have ? (
        <div class="empty">{filtered ? 'No machine is so.' : <>No machine is known yet. Where the matchmaker runs, <code>berth token code</code> prints a code; on the machine that shall work, <code>berth join CODE</code> takes it in. Those that were there before a restart are heard of again within minutes.</>}</div>
      ) : null}
      <div role={asTiles ? 'group' : 'table'} aria-label="Machines" aria-rowcount={asTiles ? undefined : all}>
        {asTiles || !have ? null : (
          <div class="tile line head" role="row">{['Machine', 'State', 'Processors', 'Memory', 'GPUs', 'Load', 'Jobs', 'Since', 'Note'].map((name, i) => <span key={name} role="columnheader" class={i > 1 && i < 8 ? 'number' : ''}>{name}</span>)}</div>
        )}
        <div ref={of} class="window" role={asTiles ? undefined : 'rowgroup'} style={{ height: `${Math.max(lines, 1) * height}px` }}>
          <div class={asTiles ? 'tiles' : 'linelist'} role={asTiles ? undefined : 'presentation'} style={{ transform: `translateY(${from * height}px)`, gridTemplateColumns: asTiles ? `repeat(${columns}, minmax(0, 1fr))` : undefined }}>{width ? shown : null}</div>
        </div>
      </div>
    </>
  );
}

/* ---------------------------------------------------------------------------------------------------------------- the view */

type Pick = 'all' | MachineState;
const picks: [Pick, string][] = [['all', 'All'], ...(Object.keys(machineStates) as MachineState[]).map((state): [Pick, string] => [state, state])];

/** What is typed is part of a name, or an expression. */
const isExpression = (text: string): boolean => /[=<>&|()]/.test(text);
function constraintOf(state: Pick, search: string): string {
  const clauses = ['Type == "Machine"'];
  if (state !== 'all') clauses.push(`State == "${state}"`);
  if (search.trim()) clauses.push(isExpression(search) ? `(${search})` : `regexp(${JSON.stringify(search.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))}, Name, "i")`);
  return clauses.join(' && ');
}

export function MachinesView({ query }: { query: Route['query'] }): JSX.Element {
  const asked = query.get('state') as Pick, state = picks.some(([word]) => word === asked) ? asked : 'all', tiles = query.get('as') !== 'list', search = query.get('search') ?? '';
  const [text, setText] = useState(search), quiet = useQuiet(text, 300), counts = useStore(live).overview?.Machines;
  const go = (next: Record<string, string | undefined>): void => routeGo(routeLink(['machines'], { state: state === 'all' ? undefined : state, as: tiles ? undefined : 'list', search, ...next }));
  useEffect(() => setText(search), [search]);
  useEffect(() => { if (quiet !== search) go({ search: quiet }); }, [quiet]);
  useTitle('Machines');
  return (
    <>
      <h1>Machines</h1>
      {counts ? <Totals of={counts} /> : null}
      <div class="row">
        <input type="search" data-search class="grow" aria-label="Search machines" placeholder="part of a name, or an expression: Memory >= 64G" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        <Choice label="State" of={picks} value={state} pick={(next) => go({ state: next === 'all' ? undefined : next })} />
        <Choice label="Shown as" of={[['tiles', 'Tiles'], ['list', 'List']]} value={tiles ? 'tiles' : 'list'} pick={(next) => go({ as: next === 'list' ? 'list' : undefined })} />
      </div>
      <Window constraint={constraintOf(state, search)} tiles={tiles} known={counts?.Known ?? 0} filtered={state !== 'all' || !!search} />
    </>
  );
}
