// workflows.tsx: jobs that wait for each other: how far each workflow is, its nodes, and what one can do with all of it.
import type { JSX } from 'preact';
import { api, type Job, type Workflow } from '../api';
import { count, inCell, many, moment, span } from '../format';
import { useAct, useLoad, useTitle } from '../hooks';
import { routeLink } from '../route';
import { Bar, Pager, Problem, Section, Shown, Table, Tag, usePaging } from '../ui';
import { command, jobLink, StateCell, workflowLink } from './jobs';

const PAGE = 50;

/** What of a workflow is where, in words; what there is none of is not said. */
function standing(of: Workflow): string {
  const wait = (n: number): string => (n === 1 ? 'waits' : 'wait');
  const parts: [number, string][] = [[of.Running, 'running'], [of.Waiting, 'waiting'], [of.Blocked - of.Stuck, `${wait(of.Blocked - of.Stuck)} for others`], [of.Failed, 'failed'], [of.Held, 'held'], [of.Removed, 'removed'], [of.Stuck, `${wait(of.Stuck)} for what does not move`]];
  return parts.filter(([n]) => n > 0).map(([n, words]) => `${count(n)} ${words}`).join(', ');
}

const moves = (of: Workflow): boolean => of.Running + of.Waiting + of.Blocked - of.Stuck > 0;

function Progress({ of }: { of: Workflow }): JSX.Element {
  return <><Bar part={of.Done / of.Jobs} tone={of.Failed ? 'bad' : undefined} /> {count(of.Done)} of {count(of.Jobs)} done</>;
}

export function Workflows({ desk }: { desk: string }): JSX.Element {
  const paging = usePaging(desk);
  const rows = useLoad((signal) => api.workflows(desk, { limit: PAGE, cursor: paging.cursor }, signal), `${desk} ${paging.cursor ?? ''}`, 2000);
  return (
    <Shown of={rows}>
      {({ rows: all, cursor }) => (
        <>
          <Table label="Workflows" rows={all} id={(one) => String(one.Workflow)} empty="No workflow is under way. berth dag submit makes one, and so do ads with Node and After." columns={[
            { name: 'Workflow', number: true, cell: (one) => <a href={workflowLink(desk, one.Workflow)}>{count(one.Workflow)}</a> },
            { name: 'Name', cell: (one) => one.Dag ?? '' },
            { name: 'Progress', cell: (one) => <Progress of={one} /> },
            { name: 'The rest', cell: (one) => <>{moves(one) ? null : <Tag tone="bad">stands still</Tag>} {standing(one)}</> },
            { name: 'Owner', cell: (one) => one.Owner },
            { name: 'Submitted', cell: (one) => <span class="moment">{moment(one.Submitted)}</span> },
          ]} />
          <Pager paging={paging} cursor={cursor} />
        </>
      )}
    </Shown>
  );
}

function Nodes({ desk, constraint, past }: { desk: string; constraint: string; past: boolean }): JSX.Element {
  const paging = usePaging(`${desk} ${constraint} ${past}`);
  const jobs = useLoad((signal) => (past ? api.history : api.jobs)(desk, { constraint, limit: PAGE, cursor: paging.cursor }, signal), `${desk} ${constraint} ${past} ${paging.cursor ?? ''}`, 2000);
  return (
    <Shown of={jobs}>
      {({ rows, cursor }) => (
        <>
          <Table label="Nodes" rows={rows} id={(job) => String(job.Job)} empty={cursor ? 'None of it among these.' : 'There is no such workflow.'} columns={[
            { name: 'Node', cell: (job: Job) => inCell(job.Node) },
            { name: 'Job', number: true, cell: (job) => <a href={jobLink(desk, job.Job)}>{count(job.Job)}</a> },
            { name: 'State', cell: (job) => <StateCell job={job} /> },
            { name: 'Status', number: true, cell: (job) => (job.Status === undefined ? '' : String(job.Status)) },
            { name: 'Command', cell: (job) => <code class="short">{command(job)}</code> },
            { name: 'Where', cell: (job) => job.Provider ?? '' },
            { name: 'Ran', number: true, cell: (job) => (typeof job.WallUsed === 'number' ? span(job.WallUsed) : '') },
          ]} />
          <Pager paging={paging} cursor={cursor} />
        </>
      )}
    </Shown>
  );
}

export function WorkflowView({ desk, id }: { desk: string; id: string }): JSX.Element {
  const number = /^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : 0, constraint = `Workflow == ${number}`;
  // the first behind the one before is this one, unless it is over
  const found = useLoad(async (signal) => (await api.workflows(desk, { limit: 1, cursor: String(number - 1) }, signal)).rows.find((one) => one.Workflow === number) ?? null, number ? `${desk} ${id}` : null, 2000);
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
      <h1>Workflow <span class="id">{id}</span> {one?.Dag ?? ''}</h1>
      <p><a href={routeLink(['jobs'], { desk, show: 'workflows' })}>All workflows</a></p>
      <Shown of={found}>
        {(value) => (value ? (
          <>
            <p><Progress of={value} />{standing(value) ? `; ${standing(value)}` : ''}. {moves(value) ? null : <Tag tone="bad">stands still</Tag>}</p>
            <div class="row">
              <button type="button" disabled={act.busy || !(value.Failed || value.Removed)} title="What failed waits again, and what was removed while others wait for it" onClick={() => void act.run('rescue')}>Rescue</button>
              <button type="button" disabled={act.busy} title="All that is left of it" onClick={() => void act.run('remove')}>Remove</button>
            </div>
          </>
        ) : <p class="quiet">It is not under way. What is known of it is in the history:</p>)}
      </Shown>
      <span role="status" class="quiet">{act.value ?? ''}</span>
      <Problem error={act.error} />
      {one === undefined ? null : <Section title="Nodes"><Nodes desk={desk} constraint={constraint} past={!one} /></Section>}
    </>
  );
}
