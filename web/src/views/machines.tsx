// machines.tsx: all machines, as tiles or as a list, however many there are: what is in the window is drawn, and what is drawn is asked for.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api, type ApiError, type Machine, type MachineCounts, type MachinePart, type MachineState } from '../api';
import { bytes, clock, count, many, moment, real, span, spanSaid } from '../format';
import { type Part, useQuiet, useSliced, useTitle, useWidth } from '../hooks';
import { live } from '../live';
import { poolNews } from '../news';
import { userClass } from '../people';
import { routeGo, routeLink, type Route } from '../route';
import { useStore } from '../store';
import { inTurn, onceInTurn } from '../turns';
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

const cellAt = (i: number): string => `M${(i % 16) * 10},${Math.floor(i / 16) * 10}h8v8h-8z`;

/** A machine's processors, those in use in the colour of whose job has them: a path for each colour. */
export function Cells({ machine }: { machine: Machine }): JSX.Element {
  const all = machine.Cpus ?? 0, each = all > CELLS ? all / CELLS : 1, cells = Math.min(CELLS, Math.ceil(all)), away = machine.State === 'Away';
  const paths = new Map<string, string>();
  let at = 0, next = 0;
  const draw = (until: number, tone: string): void => {
    for (; next < Math.min(cells, until); next++) paths.set(tone, (paths.get(tone) ?? '') + cellAt(next));
  };
  const fill = (cpus: number, tone: string): void => draw(Math.round((at += cpus / each)), tone);
  for (const part of partsOf(machine)) fill(part.Cpus ?? 0, userClass(part.User));
  fill(Math.max(0, (machine.CpusUsed ?? 0) - at * each), userClass(undefined));
  const used = next;
  draw(cells, 'free');
  return <svg class={`cells ${away ? 'away' : ''}`} viewBox={`0 0 160 ${cells > 16 ? 18 : 8}`} preserveAspectRatio="none" data-used={used} aria-hidden="true">{[...paths].map(([tone, d]) => <path key={tone} class={tone} d={d} />)}</svg>;
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

function TileOf({ machine, at }: { machine: Machine; at: JSX.CSSProperties }): JSX.Element {
  const users = usersOf(machine), said = note(machine);
  return (
    <a class="tile" style={at} href={machineLink(machine.Name)}>
      <span class="tile-head"><strong class="cut">{machine.Name}</strong><StateTag state={machine.State} /></span>
      <Cells machine={machine} />
      <span class="gauge"><span>processors</span><span /><span>{real(machine.CpusUsed ?? 0)} of {real(machine.Cpus ?? 0)}{machine.LoadAvg === undefined ? '' : `, load ${machine.LoadAvg.toFixed(1)}`}</span></span>
      <Gauge name="memory" all={machine.Memory} used={machine.MemoryUsed} show={bytes} />
      <Gauge name="GPUs" all={machine.GpuCount} used={machine.GpusUsed} show={real} />
      <span class="cut quiet" title={[users, said].filter(Boolean).join('; ')}>{[users, said].filter(Boolean).join('; ') || `for ${spanSaid(machine.Since)}`}</span>
    </a>
  );
}

function LineOf({ machine, at }: { machine: Machine; at: JSX.CSSProperties }): JSX.Element {
  return (
    <div class="tile line" role="row" style={at}>
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

const CHUNK = 50, KEPT = 24, AGAIN = 3000;
const FIELDS = 'Name,State,Pulls,Since,Heard,Until,Sure,Closes,Words,Cpus,CpusUsed,Memory,MemoryUsed,GpuCount,GpusUsed,LoadAvg,Jobs,Ends,Parts,Id,Agent';

/** A list that is asked for a chunk after the other, as far as it is looked at; chunks that are looked at are asked for anew when there is news. Of all machines
 * there is no need to have asked for those before: a chunk begins about where it would. Few chunks are kept: the others are asked for again. */
class Machines {
  end: number | null = null; // how many there are, once that is known
  error?: ApiError;
  private chunks = new Map<number, Machine[]>();
  private readonly starts: (string | undefined)[] = [undefined]; // the cursor with which each chunk begins, as far as that is known
  private readonly abort = new AbortController();
  private busy = false;
  private window: [number, number] = [0, 0];
  private stale = false;
  private timer = 0;
  private readonly leave: () => void;

  constructor(private readonly constraint: string, private readonly filtered: boolean, private readonly changed: () => void) {
    this.leave = poolNews.watch(() => { this.stale = true; this.later(); });
  }

  stop(): void {
    this.abort.abort();
    this.leave();
    clearTimeout(this.timer);
  }

  /** How many there are at least. */
  get count(): number {
    return Math.max(0, ...[...this.chunks].map(([i, rows]) => i * CHUNK + rows.length));
  }

  row(place: number): Machine | undefined {
    return this.chunks.get(Math.floor(place / CHUNK))?.[place % CHUNK];
  }

  look(from: number, to: number): void {
    this.window = [from, to];
    void this.fill();
  }

  /** The chunks in the window. */
  private seen(): number[] {
    const first = Math.floor(this.window[0] / CHUNK), last = Math.floor(Math.max(this.window[0], Math.min(this.window[1], this.end ?? Infinity) - 1) / CHUNK);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  }

  private startOf(i: number): string | undefined {
    return this.starts[i] ?? (i ? String(i * CHUNK) : undefined);
  }

  /** The chunk to ask for next: one that is looked at; or, of some machines alone, one on the way there. */
  private lacking(): number | undefined {
    const wanted = this.seen().find((i) => !this.chunks.has(i) && (this.end === null || i * CHUNK < this.end));
    return wanted === undefined || !this.filtered || wanted < this.starts.length ? wanted : this.starts.length - 1;
  }

  private async ask(i: number): Promise<void> {
    const { rows, cursor } = await api.machines({ constraint: this.constraint, select: FIELDS, limit: CHUNK, cursor: this.startOf(i), order: 'name' }, this.abort.signal);
    this.chunks.set(i, rows);
    if (cursor !== null) this.starts[i + 1] = cursor;
    if (cursor === null) this.end = i * CHUNK + rows.length;
    else if (this.end !== null && this.end <= (i + 1) * CHUNK) this.end = null;
    this.error = undefined;
    const middle = this.window[0] / CHUNK, far = [...this.chunks.keys()].sort((a, b) => Math.abs(b - middle) - Math.abs(a - middle));
    for (const old of far.slice(0, Math.max(0, far.length - KEPT))) this.chunks.delete(old);
  }

  private async fill(): Promise<void> {
    if (this.busy || this.abort.signal.aborted) return;
    this.busy = true;
    try {
      for (let i = this.lacking(); i !== undefined; i = this.lacking()) {
        await this.ask(i);
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
      for (const i of this.seen()) if (this.chunks.has(i) || !i) await this.ask(i);
    } catch (thrown) {
      if (!this.abort.signal.aborted) this.error = thrown as ApiError;
    }
    this.busy = false;
    if (this.abort.signal.aborted) return;
    this.changed();
    void this.fill(); // somebody may have looked elsewhere meanwhile
  }
}

const TILE = { width: 232, height: 160, gap: 10 }, LINE = 34, AROUND = 2, TILES_AT_ONCE = 2, LINES_AT_ONCE = 3; // in one frame

/** Each has a place of its own: one that comes or goes moves no other. */
function placeOf(place: number, columns: number, height: number): JSX.CSSProperties {
  const each = `(100% + ${TILE.gap}px) / ${columns}`;
  return { top: `${Math.floor(place / columns) * height}px`, left: `calc(${each} * ${place % columns})`, width: `calc(${each} - ${TILE.gap}px)` };
}

function Window({ constraint, tiles, known, filtered }: { constraint: string; tiles: boolean; known: number; filtered: boolean }): JSX.Element {
  const { of, width } = useWidth(), [, setTurn] = useState(0), [view, setView] = useState<[number, number]>([0, 12]);
  const list = useRef<Machines | null>(null);
  const narrow = width > 0 && width < 620, asTiles = tiles || narrow;
  useEffect(() => {
    const made = new Machines(constraint, filtered, () => inTurn(() => setTurn((n) => n + 1)));
    list.current = made;
    made.look(0, 60);
    setTurn((n) => n + 1);
    return () => made.stop();
  }, [constraint]);
  const columns = asTiles ? Math.max(1, Math.floor((width + TILE.gap) / (TILE.width + TILE.gap))) : 1, height = asTiles ? TILE.height + TILE.gap : LINE;
  useEffect(() => {
    let top = 0;
    const look = (): void => {
      const from = Math.max(0, Math.floor(-top / height) - AROUND), to = Math.max(from + 1, Math.ceil((innerHeight - top) / height) + AROUND);
      setView((old) => (old[0] === from && old[1] === to ? old : [from, to]));
    };
    const later = onceInTurn(look), moved = (): void => { // asked where it is when the frame is about to be laid out, and drawn behind it: it is laid out once
      top = of.current?.getBoundingClientRect().top ?? top;
      later();
    };
    moved();
    addEventListener('scroll', moved, { passive: true });
    addEventListener('resize', moved);
    return () => {
      removeEventListener('scroll', moved);
      removeEventListener('resize', moved);
    };
  }, [height, width]);
  useEffect(() => list.current?.look(view[0] * columns, view[1] * columns + CHUNK / 2), [view, columns, constraint]);
  const there = list.current, have = there?.count ?? 0, more = there?.end === null, all = there?.end ?? Math.max(have + columns, filtered ? 0 : known);
  const lines = Math.ceil(all / columns), from = Math.min(view[0], Math.max(0, lines - 1)), to = Math.min(view[1], lines);
  const met = new Set<string>(), shown = Array.from({ length: Math.max(0, Math.min(to * columns, all) - from * columns) }, (_, i): Part => {
    const place = from * columns + i, machine = there?.row(place), own = machine ? machine.Agent + machine.Id : `empty ${place}`, key = `${asTiles} ${met.has(own) ? `again ${place}` : own}`;
    const at = placeOf(place, columns, height), blank = (): JSX.Element => <span key={key} class={asTiles ? 'tile' : 'tile line'} style={at} aria-hidden="true" />;
    if (!machine || met.has(own)) return { key, of: null, also: columns, place, draw: blank, blank };
    met.add(own);
    return { key, of: machine, also: `${place} ${columns}`, place, blank, draw: () => (asTiles ? <TileOf key={key} machine={machine} at={at} /> : <LineOf key={key} machine={machine} at={at} />) };
  });
  const { drawn } = useSliced(shown, asTiles ? TILES_AT_ONCE : LINES_AT_ONCE, [from * columns, to * columns]);
  return (
    <>
      <Problem error={there?.error} />
      <p class="quiet" role="status">{more ? (filtered ? `${count(have)} and more` : many(Math.max(known, have), 'machine')) : many(have, 'machine')}</p>
      {there && !more && !have ? (
        <div class="empty">{filtered ? 'No machine is so.' : <>No machine is known yet. Where the matchmaker runs, <code>berth token code</code> prints a code; on the machine that shall work, <code>berth join CODE</code> takes it in. Those that were there before a restart are heard of again within minutes.</>}</div>
      ) : null}
      <div role={asTiles ? 'group' : 'table'} aria-label="Machines" aria-rowcount={asTiles ? undefined : all}>
        {asTiles || !have ? null : (
          <div class="tile line head" role="row">{['Machine', 'State', 'Processors', 'Memory', 'GPUs', 'Load', 'Jobs', 'Since', 'Note'].map((name, i) => <span key={name} role="columnheader" class={i > 1 && i < 8 ? 'number' : ''}>{name}</span>)}</div>
        )}
        <div ref={of} class="window" role={asTiles ? undefined : 'rowgroup'} style={{ height: `${Math.max(lines, 1) * height}px` }}>
          {width ? drawn : null}
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

/** While one types, this alone is drawn. */
function Search({ search, find }: { search: string; find: (search: string) => void }): JSX.Element {
  const [text, setText] = useState(search), quiet = useQuiet(text, 300);
  useEffect(() => setText(search), [search]);
  useEffect(() => { if (quiet !== search) find(quiet); }, [quiet]);
  return <input type="search" data-search class="grow" aria-label="Search machines" placeholder="part of a name, or an expression: Memory >= 64G" value={text} onInput={(event) => setText(event.currentTarget.value)} />;
}

export function MachinesView({ query }: { query: Route['query'] }): JSX.Element {
  const asked = query.get('state') as Pick, state = picks.some(([word]) => word === asked) ? asked : 'all', tiles = query.get('as') !== 'list', search = query.get('search') ?? '';
  const counts = useStore(live).overview?.Machines;
  const go = (next: Record<string, string | undefined>): void => routeGo(routeLink(['machines'], { state: state === 'all' ? undefined : state, as: tiles ? undefined : 'list', search, ...next }));
  useTitle('Machines');
  return (
    <>
      <h1>Machines</h1>
      {counts ? <Totals of={counts} /> : null}
      <div class="row">
        <Search search={search} find={(next) => go({ search: next })} />
        <Choice label="State" of={picks} value={state} pick={(next) => go({ state: next === 'all' ? undefined : next })} />
        <Choice label="Shown as" of={[['tiles', 'Tiles'], ['list', 'List']]} value={tiles ? 'tiles' : 'list'} pick={(next) => go({ as: next === 'list' ? 'list' : undefined })} />
      </div>
      <Window constraint={constraintOf(state, search)} tiles={tiles} known={counts?.Known ?? 0} filtered={state !== 'all' || !!search} />
    </>
  );
}
