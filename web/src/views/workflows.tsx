// workflows.tsx: jobs that wait for each other: how far each workflow is, its nodes as a graph and as a table, and what one can do with all of it or a branch.
import type { JSX } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import { api, type Job, type Workflow } from '../api';
import { AtDesk } from '../desks';
import { count, inCell, many, span } from '../format';
import { branchOf, graphSteps, type Graph, type GraphNode, type Placed } from '../graph';
import { useAct, useLoad, useScrolled, useSliced, useSteps, useTitle } from '../hooks';
import { command, failed, jobLink, over, standing, workflowLink } from '../jobwords';
import { deskNews } from '../news';
import { route, routeGo, routeLink, routeWith, type Route } from '../route';
import { useStore } from '../store';
import { Pager, Parts, Problem, Section, Shown, Table, Tag, usePaging, When } from '../ui';
import { JOB_FIELDS, StateCell } from './jobs';

const PAGE = 25, NODES_MOST = 5000, NODES_AT_ONCE = 250, LINES_MOST = 10; // of the nodes; of each box

/** What of a workflow is where, in words; what there is none of is not said. */
function rest(of: Workflow): string {
  const wait = (n: number): string => (n === 1 ? 'waits' : 'wait');
  const parts: [number, string][] = [[of.Running, 'running'], [of.Waiting, 'waiting'], [of.Blocked - of.Stuck, `${wait(of.Blocked - of.Stuck)} for others`], [of.Failed, 'failed'], [of.Held, 'held'], [of.Removed, 'removed'], [of.Stuck, `${wait(of.Stuck)} for what does not move`]];
  return parts.filter(([n]) => n > 0).map(([n, words]) => `${count(n)} ${words}`).join(', ');
}

const moves = (of: Workflow): boolean => of.Running + of.Waiting + of.Blocked - of.Stuck > 0;

function Progress({ of }: { of: Workflow }): JSX.Element {
  const words = `${count(of.Done)} of ${count(of.Jobs)} done`;
  return <><Parts label={words} of={[{ part: of.Done, tone: 'good' }, { part: of.Failed, tone: 'bad' }, { part: of.Removed, tone: 'gone' }, { part: of.Running, tone: 'now' }, { part: of.Held, tone: 'warn' }, { part: of.Waiting + of.Blocked, tone: 'wait' }]} /> {words}</>;
}

function Workflows({ desk }: { desk: string }): JSX.Element {
  const paging = usePaging(desk);
  const rows = useLoad((signal) => api.workflows(desk, { limit: PAGE, cursor: paging.cursor }, signal), `${desk} ${paging.cursor ?? ''}`, { of: deskNews(desk) });
  return (
    <Shown of={rows}>
      {({ rows: all, cursor }) => (
        <>
          <Table label="Workflows" rows={all} id={(one) => String(one.Workflow)} state={desk} empty={<>Jobs that wait for each other stand here, as one. No workflow is under way: <code>berth dag submit FILE</code> makes one, and so do ads with <code>Node</code> and <code>After</code>, from <a href={routeLink(['submit'], { desk })}>Submit</a> too.</>} columns={[
            { name: 'Workflow', number: true, cell: (one) => <a href={workflowLink(desk, one.Workflow)}>{one.Workflow}</a> },
            { name: 'Name', cell: (one) => one.Dag ?? '' },
            { name: 'Progress', cell: (one) => <Progress of={one} /> },
            { name: 'The rest', cell: (one) => <>{moves(one) ? null : <Tag tone={one.Failed ? 'bad' : 'warn'}>stands still</Tag>} {rest(one)}</> },
            { name: 'Owner', cell: (one) => one.Owner },
            { name: 'Submitted', cell: (one) => <When at={one.Submitted} /> },
          ]} />
          <Pager paging={paging} cursor={cursor} />
        </>
      )}
    </Shown>
  );
}

/* ---------------------------------------------------------------------------------------------------------------- graph */

const colourOf = (job: Job): string => (failed(job) ? 'bad' : over(job.State) ? (job.Outcome === 'Succeeded' ? 'good' : 'gone') : job.State === 'Held' ? 'warn' : ['Ready', 'Scheduled', 'Running'].includes(job.State) ? 'now' : 'wait');
const BOX = { width: 148, height: 34, over: 52, down: 12 };
const colourWords: Record<string, string> = { good: 'succeeded', bad: 'failed', now: 'running', warn: 'held', wait: 'waiting', gone: 'removed' };

const xOf = (layer: number): number => 8 + layer * (BOX.width + BOX.over), yOf = (row: number): number => 8 + row * (BOX.height + BOX.down);
const AROUND = 200, BOXES_AT_ONCE = 8, LINES_AT_ONCE = 24; // pixels; in one frame

/** The boxes of a graph that are seen: of each layer in the window, those of its rows. */
function boxesSeen(graph: Graph, view: { left: number; top: number; width: number; height: number }): number[] {
  const seen: number[] = [], first = Math.max(0, Math.floor((view.left - AROUND) / (BOX.width + BOX.over))), last = Math.min(graph.layers - 1, Math.ceil((view.left + view.width + AROUND) / (BOX.width + BOX.over)));
  for (let layer = first; layer <= last; layer++) {
    const column = graph.columns[layer] ?? [];
    let low = 0, high = column.length;
    while (low < high) { // the first that is not above the window
      const middle = (low + high) >> 1;
      if (yOf(graph.boxes[column[middle]!]!.row) + BOX.height < view.top - AROUND) low = middle + 1;
      else high = middle;
    }
    for (; low < column.length && yOf(graph.boxes[column[low]!]!.row) < view.top + view.height + AROUND; low++) seen.push(column[low]!);
  }
  return seen;
}

/** From the right of one box to the left of another. */
function lineOf(a: Placed, b: Placed): string {
  const x1 = xOf(a.layer) + BOX.width, y1 = yOf(a.row) + BOX.height / 2, x2 = xOf(b.layer), y2 = yOf(b.row) + BOX.height / 2, bend = Math.min(BOX.over, x2 - x1);
  return `M${x1},${y1}C${x1 + bend / 2},${y1} ${x2 - bend / 2},${y2} ${x2},${y2}`;
}

/** What is in the window is drawn, and the lines that begin or end there. */
function Drawing({ graph, chosen, pick }: { graph: Graph; chosen: string | null; pick: (key: string) => void }): JSX.Element {
  const width = xOf(graph.layers - 1) + BOX.width + 8, height = yOf(graph.rows - 1) + BOX.height + 8, view = useScrolled(AROUND), latest = useRef(pick);
  latest.current = pick;
  const parts = useMemo(() => { // once, and not for each slice
    const places = boxesSeen(graph, view), edges = [...new Set(places.flatMap((place) => graph.joined[place]!.slice(0, LINES_MOST)))].sort((a, b) => a - b); // always in this order: none is moved in the document
    return {
      boxes: places.map((place) => {
        const box = graph.boxes[place]!;
        return { key: box.key, of: [box.label, box.counts, box.layer, box.row, chosen === box.key], draw: () => <Box key={box.key} box={box} pressed={chosen === box.key} pick={latest} /> };
      }),
      lines: edges.map((edge) => {
        const [from, to] = graph.edges[edge]!, a = graph.boxes[from]!, b = graph.boxes[to]!;
        return { key: `${from},${to}`, of: `${a.layer} ${a.row} ${b.layer} ${b.row}`, draw: () => <path key={`${from},${to}`} class="edge" d={lineOf(a, b)} /> };
      }),
    };
  }, [graph, view.left, view.top, view.width, view.height, chosen]);
  const boxes = useSliced(parts.boxes, BOXES_AT_ONCE), lines = useSliced(parts.lines, LINES_AT_ONCE);
  return (
    <div ref={view.of} class="graph" role="group" aria-label="The graph" tabIndex={0}>
      <div style={{ width: `${width}px`, height: `${height}px`, position: 'relative' }}>
        <svg width={width} height={height} aria-hidden="true">{lines.drawn}</svg>
        {boxes.drawn}
      </div>
    </div>
  );
}

function Box({ box, pressed, pick }: { box: Placed; pressed: boolean; pick: { current: (key: string) => void } }): JSX.Element {
  const states = Object.entries(box.counts), words = states.map(([state, n]) => `${box.names.length > 1 ? `${n} ` : ''}${colourWords[state] ?? state}`).join(', ');
  return (
    <button type="button" class={`box ${states.length === 1 ? states[0]![0] : 'mixed'}`} aria-pressed={pressed} title={`${box.label}: ${words}`} aria-label={`${box.label}: ${words}`} onClick={() => pick.current(box.key)}
      style={{ left: `${xOf(box.layer)}px`, top: `${yOf(box.row)}px`, width: `${BOX.width}px`, height: `${BOX.height}px` }}>
      <span class="cut">{box.label}</span>
      {box.names.length > 1 ? <Parts label={words} of={Object.keys(colourWords).map((state) => ({ part: box.counts[state] ?? 0, tone: state }))} /> : null}
    </button>
  );
}

function Branch({ desk, jobs, nodes, name, done }: { desk: string; jobs: Map<string, Job>; nodes: GraphNode[]; name: string; done: () => void }): JSX.Element {
  const job = jobs.get(name)!, branch = useMemo(() => branchOf(nodes, name), [nodes, name]);
  const act = useAct(async (verb: 'hold' | 'release' | 'rescue', names: string[]) => {
    const told = await api.control(desk, verb, { Ids: names.map((one) => jobs.get(one)!.Job).join(',') }, 'by the page');
    done();
    return `${many(told.Changed, 'job')} ${verb === 'hold' ? 'held' : verb === 'release' ? 'released' : told.Changed === 1 ? 'waits again' : 'wait again'}.`;
  });
  const held = branch.filter((one) => jobs.get(one)?.State === 'Held');
  return (
    <div class="row">
      <strong>{name}</strong> <a href={jobLink(desk, job.Job)}>job {job.Job}</a> <span>{standing(job)}</span>
      <button type="button" disabled={act.busy || !(failed(job) || job.Outcome === 'Removed')} onClick={() => void act.run('rescue', [name])}>Try again</button>
      <button type="button" disabled={act.busy || branch.every((one) => over(jobs.get(one)?.State ?? ''))} title="This node and all that wait for it" onClick={() => void act.run('hold', branch)}>Hold the branch{branch.length > 1 ? ` (${count(branch.length)})` : ''}</button>
      <button type="button" disabled={act.busy || !held.length} onClick={() => void act.run('release', held)}>Release the branch</button>
      <span role="status" class="quiet">{act.value ?? ''}</span>
      <Problem error={act.error} />
    </div>
  );
}

/** All nodes, as far as they are drawn. */
async function nodesAsk(desk: string, constraint: string, past: boolean, signal: AbortSignal): Promise<{ jobs: Job[]; more: boolean }> {
  const jobs: Job[] = [];
  let cursor: string | undefined;
  do {
    const got = await (past ? api.history : api.jobs)(desk, { constraint, select: `${JOB_FIELDS},After`, limit: past ? 1000 : NODES_AT_ONCE, cursor }, signal);
    jobs.push(...got.rows);
    cursor = got.cursor ?? undefined;
  } while (cursor && jobs.length < NODES_MOST && !past);
  return { jobs, more: !!cursor };
}

/** What is drawn of the nodes, and of whom they are. */
interface Drawn {
  jobs: Job[];
  named: Map<string, Job>;
  nodes: GraphNode[];
  graph: Graph;
}

function* drawnSteps(jobs: Job[], opened: Set<string>): Generator<void, Drawn> {
  const named = new Map<string, Job>(), nodes: GraphNode[] = [];
  for (const [i, job] of jobs.entries()) {
    named.set(inCell(job.Node), job);
    if (i % 100 === 99) yield;
  }
  for (const [name, job] of named) {
    nodes.push({ name, after: texts(job.After), state: colourOf(job) });
    if (nodes.length % 100 === 99) yield;
  }
  return { jobs, named, nodes, graph: yield* graphSteps(nodes, opened) };
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []);

function Nodes({ desk, constraint, past, changed }: { desk: string; constraint: string; past: boolean; changed: () => void }): JSX.Element {
  const large = useRef(false), found = useLoad((signal) => nodesAsk(desk, constraint, past, signal), `${desk} ${constraint} ${past}`, { of: deskNews(desk), least: large.current ? 10_000 : undefined });
  large.current = (found.value?.jobs.length ?? 0) > NODES_AT_ONCE;
  const { query } = useStore(route), chosen = query.get('node'), groups = query.get('open') ?? '', opened = useMemo(() => new Set(groups ? groups.split('\n') : []), [groups]); // the address has them
  const all = found.value?.jobs, drawn = useSteps(() => drawnSteps(all ?? [], opened), [all, opened]), states = useMemo(() => new Set(drawn?.nodes.map((node) => node.state)), [drawn]);
  const again = (): void => { found.again(); changed(); };
  const pick = (key: string): void => {
    const box = drawn?.graph.boxes.find((one) => one.key === key);
    if (box && box.names.length > 1) routeGo(routeWith({ open: [...opened, key].join('\n') }));
    else routeGo(routeWith({ node: chosen === key ? undefined : key }));
  };
  const name = chosen?.startsWith('node ') ? chosen.slice(5) : null;
  return (
    <Shown of={found}>
      {({ jobs, more }) => (
        <>
          {jobs.length > 1 ? (
            <Section title="Graph" note={opened.size ? undefined : 'From left to right: what waits for what. Many alike are one box, opened by a click; a node is chosen by one.'} side={opened.size ? <button type="button" onClick={() => routeGo(routeWith({ open: undefined }))}>Collapse</button> : undefined}>
              {drawn?.jobs.length ? (
                <>
                  <Drawing graph={drawn.graph} chosen={chosen} pick={pick} />
                  <ul class="legend">{Object.entries(colourWords).filter(([state]) => states.has(state)).map(([state, words]) => <li key={state}><span class={`swatch ${state}`} aria-hidden="true" />{words}</li>)}</ul>
                  {name !== null && drawn.named.has(name) ? <Branch desk={desk} jobs={drawn.named} nodes={drawn.nodes} name={name} done={again} /> : null}
                </>
              ) : <p class="quiet">Drawing …</p>}
            </Section>
          ) : null}
          <Section title="Nodes">
            <Table label="Nodes" rows={jobs} id={(job) => String(job.Job)} state={desk} empty={more ? 'None of it among these.' : 'There is no such workflow.'} columns={[
              { name: 'Node', cell: (job: Job) => inCell(job.Node) },
              { name: 'Job', number: true, cell: (job) => <a href={jobLink(desk, job.Job)}>{job.Job}</a> },
              { name: 'State', cell: (job) => <StateCell job={job} /> },
              { name: 'After', cell: (job) => texts(job.After).join(', ') },
              { name: 'Command', cell: (job) => <code class="short">{command(job)}</code> },
              { name: 'Where', cell: (job) => job.Provider ?? '' },
              { name: 'Ran', number: true, cell: (job) => (typeof job.WallUsed === 'number' ? span(job.WallUsed) : '') },
            ]} />
            {more ? <p class="note">There are more than can be drawn: the first {count(jobs.length)} are here.</p> : null}
          </Section>
        </>
      )}
    </Shown>
  );
}

export function WorkflowsView({ query }: { query: Route['query'] }): JSX.Element {
  useTitle('Workflows');
  return (
    <>
      <h1>Workflows</h1>
      <AtDesk named={query.get('desk')} pick={(desk) => routeGo(routeLink(['workflows'], { desk }))}>{(desk) => <Workflows key={desk.Agent} desk={desk.Agent} />}</AtDesk>
    </>
  );
}

export function WorkflowView({ desk, id }: { desk: string; id: string }): JSX.Element {
  const number = /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : 0, constraint = `Workflow == ${number}`;
  // the first behind the one before is this one, unless it is over
  const found = useLoad(async (signal) => (await api.workflows(desk, { limit: 1, cursor: String(number - 1) }, signal)).rows.find((one) => one.Workflow === number) ?? null, number ? `${desk} ${id}` : null, { of: deskNews(desk) });
  const act = useAct(async (verb: 'rescue' | 'remove') => {
    const told = await api.control(desk, verb, { Constraint: constraint }, 'by the page');
    found.again();
    return `${many(told.Changed, 'job')} ${verb === 'rescue' ? (told.Changed === 1 ? 'waits again' : 'wait again') : 'removed'}.`;
  });
  const one = found.value;
  useTitle(`Workflow ${id}`);
  if (!number) return <><h1>Not there</h1><p>There is no workflow {id}.</p></>;
  return (
    <>
      <p class="crumbs"><a href={routeLink(['workflows'], { desk })}>Workflows</a> › {id}</p>
      <h1>Workflow {one?.Dag ?? id}</h1>
      <Shown of={found}>
        {(value) => (value ? (
          <>
            <p><Progress of={value} />{rest(value) ? `; ${rest(value)}` : ''}. {moves(value) ? null : <Tag tone={value.Failed ? 'bad' : 'warn'}>stands still</Tag>}</p>
            <div class="row">
              <button type="button" disabled={act.busy || !(value.Failed || value.Removed)} title="What failed waits again, and what was removed while others wait for it" onClick={() => void act.run('rescue')}>Rescue</button>
              <button type="button" disabled={act.busy} title="All that is left of it" onClick={() => void act.run('remove')}>Remove</button>
            </div>
          </>
        ) : <p class="quiet">It is not under way. What is known of it is in the history:</p>)}
      </Shown>
      <span role="status" class="quiet">{act.value ?? ''}</span>
      <Problem error={act.error} />
      {one === undefined ? null : <Nodes key={String(!one)} desk={desk} constraint={constraint} past={!one} changed={found.again} />}
    </>
  );
}
