// workflows.tsx: jobs that wait for each other: how far each workflow is, its nodes as a graph and as a table, and what one can do with all of it or a branch.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api, type Job, type Workflow } from '../api';
import { AtDesk } from '../desks';
import { count, inCell, many, span } from '../format';
import { branchOf, graphMake, type Graph, type GraphNode } from '../graph';
import { useAct, useLoad, useTitle } from '../hooks';
import { command, failed, jobLink, over, standing, workflowLink } from '../jobwords';
import { deskNews } from '../news';
import { routeGo, routeLink, type Route } from '../route';
import { Pager, Parts, Problem, Section, Shown, Table, Tag, usePaging, When } from '../ui';
import { StateCell } from './jobs';

const PAGE = 50, NODES_MOST = 5000;

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
          <Table label="Workflows" rows={all} id={(one) => String(one.Workflow)} empty={<>Jobs that wait for each other stand here, as one. No workflow is under way: <code>berth dag submit FILE</code> makes one, and so do ads with <code>Node</code> and <code>After</code>, from <a href={routeLink(['submit'], { desk })}>Submit</a> too.</>} columns={[
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

function Drawing({ graph, chosen, pick }: { graph: Graph; chosen: string | null; pick: (key: string) => void }): JSX.Element {
  const x = (layer: number): number => 8 + layer * (BOX.width + BOX.over), y = (row: number): number => 8 + row * (BOX.height + BOX.down);
  const width = x(graph.layers - 1) + BOX.width + 8, height = y(graph.rows - 1) + BOX.height + 8;
  return (
    <div class="graph" role="group" aria-label="The graph" tabIndex={0}>
      <div style={{ width: `${width}px`, height: `${height}px`, position: 'relative' }}>
        <svg width={width} height={height} aria-hidden="true">
          {graph.edges.map(([from, to]) => {
            const a = graph.boxes[from]!, b = graph.boxes[to]!, x1 = x(a.layer) + BOX.width, y1 = y(a.row) + BOX.height / 2, x2 = x(b.layer), y2 = y(b.row) + BOX.height / 2, bend = Math.min(BOX.over, x2 - x1);
            return <path key={`${from} ${to}`} class="edge" d={`M${x1},${y1}C${x1 + bend / 2},${y1} ${x2 - bend / 2},${y2} ${x2},${y2}`} />;
          })}
        </svg>
        {graph.boxes.map((box) => {
          const states = Object.entries(box.counts), words = states.map(([state, n]) => `${box.names.length > 1 ? `${n} ` : ''}${colourWords[state] ?? state}`).join(', ');
          return (
            <button key={box.key} type="button" class={`box ${states.length === 1 ? states[0]![0] : 'mixed'}`} aria-pressed={chosen === box.key} title={`${box.label}: ${words}`} aria-label={`${box.label}: ${words}`} onClick={() => pick(box.key)}
              style={{ left: `${x(box.layer)}px`, top: `${y(box.row)}px`, width: `${BOX.width}px`, height: `${BOX.height}px` }}>
              <span class="cut">{box.label}</span>
              {box.names.length > 1 ? <Parts label={words} of={Object.keys(colourWords).map((state) => ({ part: box.counts[state] ?? 0, tone: state }))} /> : null}
            </button>
          );
        })}
      </div>
    </div>
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
    const got = await (past ? api.history : api.jobs)(desk, { constraint, limit: 1000, cursor }, signal);
    jobs.push(...got.rows);
    cursor = got.cursor ?? undefined;
  } while (cursor && jobs.length < NODES_MOST && !past);
  return { jobs, more: !!cursor };
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : typeof value === 'string' ? [value] : []);

function Nodes({ desk, constraint, past, changed }: { desk: string; constraint: string; past: boolean; changed: () => void }): JSX.Element {
  const found = useLoad((signal) => nodesAsk(desk, constraint, past, signal), `${desk} ${constraint} ${past}`, { of: deskNews(desk) });
  const [opened, setOpened] = useState<Set<string>>(new Set()), [chosen, setChosen] = useState<string | null>(null), [shown, setShown] = useState(PAGE);
  const all = found.value?.jobs;
  const named = useMemo(() => new Map((all ?? []).map((job) => [inCell(job.Node), job])), [all]);
  const nodes = useMemo(() => [...named].map(([name, job]): GraphNode => ({ name, after: texts(job.After), state: colourOf(job) })), [named]);
  const graph = useMemo(() => graphMake(nodes, opened), [nodes, opened]);
  const again = (): void => { found.again(); changed(); };
  const pick = (key: string): void => {
    const box = graph.boxes.find((one) => one.key === key);
    if (box && box.names.length > 1) setOpened(new Set([...opened, key]));
    else setChosen(chosen === key ? null : key);
  };
  const name = chosen?.startsWith('node ') ? chosen.slice(5) : null;
  return (
    <Shown of={found}>
      {({ jobs, more }) => (
        <>
          {jobs.length > 1 ? (
            <Section title="Graph" note={opened.size ? undefined : 'From left to right: what waits for what. Many alike are one box, opened by a click; a node is chosen by one.'} side={opened.size ? <button type="button" onClick={() => setOpened(new Set())}>Collapse</button> : undefined}>
              <Drawing graph={graph} chosen={chosen} pick={pick} />
              <ul class="legend">{Object.entries(colourWords).filter(([state]) => nodes.some((node) => node.state === state)).map(([state, words]) => <li key={state}><span class={`swatch ${state}`} aria-hidden="true" />{words}</li>)}</ul>
              {name !== null && named.has(name) ? <Branch desk={desk} jobs={named} nodes={nodes} name={name} done={again} /> : null}
            </Section>
          ) : null}
          <Section title="Nodes">
            <Table label="Nodes" rows={jobs.slice(0, shown)} id={(job) => String(job.Job)} empty={more ? 'None of it among these.' : 'There is no such workflow.'} columns={[
              { name: 'Node', cell: (job: Job) => inCell(job.Node) },
              { name: 'Job', number: true, cell: (job) => <a href={jobLink(desk, job.Job)}>{job.Job}</a> },
              { name: 'State', cell: (job) => <StateCell job={job} /> },
              { name: 'After', cell: (job) => texts(job.After).join(', ') },
              { name: 'Command', cell: (job) => <code class="short">{command(job)}</code> },
              { name: 'Where', cell: (job) => job.Provider ?? '' },
              { name: 'Ran', number: true, cell: (job) => (typeof job.WallUsed === 'number' ? span(job.WallUsed) : '') },
            ]} />
            {jobs.length > shown ? <button type="button" onClick={() => setShown(shown + 500)}>Show more of {count(jobs.length)}</button> : null}
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
