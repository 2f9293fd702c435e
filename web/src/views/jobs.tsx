// jobs.tsx: one's own jobs, by the customers that keep them: the queue, and submitting.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, ApiError, type Agent, type Desk, type Job } from '../api';
import { Editor } from '../editor';
import { bytes, count, inCell, many, moment, span } from '../format';
import { useAct, useLoad, useTitle } from '../hooks';
import { inputsSend, inputsWrite } from '../inputs';
import { routeGo, routeLink, type Route } from '../route';
import { session } from '../session';
import { useStore } from '../store';
import { Choice, Pager, Problem, Section, Shown, Table, Tag, usePaging } from '../ui';
import { customerless, jobOutcomes } from '../words';
import { Workflows } from './workflows';

const PAGE = 50;
const stateTones: Record<string, 'good' | 'bad' | 'warn' | undefined> = { Running: 'good', Held: 'warn', Succeeded: 'good', Removed: undefined };
export const over = (state: string): boolean => ['Done', 'Cleared', 'Aborted', 'Cancelled'].includes(state);
/** Ended, and not well. */
export const failed = (job: Job): boolean => over(job.State) && job.Outcome !== 'Succeeded' && job.Outcome !== 'Removed';

/** How it stands, in the words of `berth jobs`: how it ended, if it is over, else its state. */
export function standing(job: Job): string {
  const words = job.Outcome === undefined ? undefined : jobOutcomes[job.Outcome];
  if (!words) return job.State;
  return job.ExitCode ? `${words} (exit ${job.ExitCode})` : job.Signal ? `${words} (signal ${job.Signal})` : words;
}

export const tone = (job: Job): 'good' | 'bad' | 'warn' | undefined => (failed(job) ? 'bad' : stateTones[job.Outcome ?? job.State]);

export const jobLink = (desk: string, id: number | string): string => routeLink(['job', desk, String(id)]);
export const workflowLink = (desk: string, id: number | string): string => routeLink(['workflow', desk, String(id)]);

export const command = (job: Job): string => [job.Cmd, ...(Array.isArray(job.Args) ? job.Args.map((arg) => inCell(arg)) : job.Args ? [inCell(job.Args)] : [])].join(' ');

/** How it stands, and why, where there is something to say: it failed, or it waits. */
export function StateCell({ job }: { job: Job }): JSX.Element {
  const why = over(job.State) && (!failed(job) || job.Reason === 'the job ended') ? undefined : job.Reason;
  return <><Tag tone={tone(job)}>{standing(job)}</Tag>{why ? <small class="under">{why}</small> : null}</>;
}

const counted: [string, string][] = [['Waiting', 'waiting'], ['Ready', 'ready'], ['Scheduled', 'scheduled'], ['Running', 'running'], ['Held', 'held'], ['Done', 'succeeded'], ['Failed', 'failed'], ['Aborted', 'expired'], ['Cancelled', 'removed'], ['Blocked', 'blocked']];

function Queue({ desk, past }: { desk: string; past: boolean }): JSX.Element {
  const paging = usePaging(`${desk} ${past}`);
  const jobs = useLoad((signal) => (past ? api.history : api.jobs)(desk, { limit: PAGE, cursor: paging.cursor }, signal), `${desk} ${past} ${paging.cursor ?? ''}`, 2000);
  const summary = useLoad((signal) => api.summary(desk, signal), desk, 2000);
  const [chosen, setChosen] = useState<Set<number>>(new Set());
  const act = useAct(async (verb: 'hold' | 'release' | 'remove') => {
    const told = await api.control(desk, verb, { Ids: [...chosen].join(',') }, 'by the page');
    setChosen(new Set());
    jobs.again();
    return { verb, ...told };
  });
  const pick = (id: number, on: boolean): void => {
    const next = new Set(chosen);
    if (on) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <>
      {summary.value ? (
        <p class="counts">{counted.map(([name, text]) => [summary.value![name as 'Waiting'], text] as const).filter(([n]) => n).map(([n, text]) => <span key={text}><strong>{count(n)}</strong> {text}</span>)}
          {summary.value.Total ? null : <span class="quiet">No jobs.</span>}</p>
      ) : null}
      {past ? null : (
        <div class="row">
          {(['hold', 'release', 'remove'] as const).map((verb) => <button key={verb} type="button" disabled={!chosen.size || act.busy} onClick={() => void act.run(verb)}>{verb[0]!.toUpperCase() + verb.slice(1)}</button>)}
          <button type="button" disabled={!jobs.value?.rows.length} onClick={() => setChosen(chosen.size ? new Set() : new Set(jobs.value?.rows.map((job) => job.Job)))}>{chosen.size ? 'Choose none' : 'Choose all here'}</button>
          <span role="status" class="quiet">{chosen.size ? `${count(chosen.size)} chosen` : act.value ? `${act.value.verb}: ${count(act.value.Changed)} changed${act.value.Unchanged ? `, ${count(act.value.Unchanged)} stayed as they were` : ''}` : ''}</span>
        </div>
      )}
      <Problem error={act.error} />
      <Shown of={jobs}>
        {({ rows, cursor }) => (
          <>
            <Table label="Jobs" rows={rows} id={(job) => String(job.Job)} empty={past ? 'Nothing is over yet.' : 'The queue is empty.'} columns={[
              ...(past ? [] : [{ name: 'Choose', cell: (job: Job) => <input type="checkbox" aria-label={`Job ${job.Job}`} checked={chosen.has(job.Job)} onChange={(event) => pick(job.Job, event.currentTarget.checked)} /> }]),
              { name: 'Job', number: true, cell: (job) => <a href={jobLink(desk, job.Job)}>{count(job.Job)}</a> },
              { name: 'State', cell: (job) => <StateCell job={job} /> },
              { name: 'Command', cell: (job) => <><code class="short">{command(job)}</code>{job.Workflow ? <small class="under">node {inCell(job.Node)} of <a href={workflowLink(desk, job.Workflow as number)}>workflow {count(job.Workflow as number)}</a></small> : null}</> },
              { name: 'Owner', cell: (job) => job.Owner ?? '' },
              { name: 'Where', cell: (job) => job.Provider ?? '' },
              { name: 'Submitted', cell: (job) => (job.Submitted ? <span class="moment">{moment(job.Submitted)}</span> : '') },
              { name: 'Ran', number: true, cell: (job) => (typeof job.WallUsed === 'number' ? span(job.WallUsed) : '') },
            ]} />
            <Pager paging={paging} cursor={cursor} />
          </>
        )}
      </Shown>
    </>
  );
}

const example = '[\n    Cmd = "/bin/sh";\n    Args = { "-c", "for i in 1 2 3 4 5; do echo line $i; sleep 1; done" };\n    RequestMemory = 64M;\n    RequestDisk = 64M\n]';

function Submit({ desk, done }: { desk: string; done: () => void }): JSX.Element {
  const [text, setText] = useState(example), [key, setKey] = useState(() => crypto.randomUUID());
  const [files, setFiles] = useState<File[]>([]), [sent, setSent] = useState<number | null>(null);
  const act = useAct(async () => {
    let ads = text;
    if (files.length) {
      if (inputsWrite(text, []) === null) throw new ApiError(400, 'Inputs', 'An ad has Inputs of its own: leave them out, or choose no files here.');
      try {
        setSent(0);
        ads = inputsWrite(text, await inputsSend(desk, files, setSent)) ?? text;
      } finally {
        setSent(null);
      }
    }
    const told = await api.submit(desk, ads, key);
    setKey(crypto.randomUUID()); // the same key again would be the same submission
    done();
    return told;
  });
  const place = act.error?.status === 400 ? act.error.place : null;
  const change = (next: string): void => {
    setText(next);
    setKey(crypto.randomUUID());
  };
  return (
    <details class="submit">
      <summary>Submit jobs</summary>
      <p class="note">An ad for each job; <code>Cmd</code> is all that is needed, <code>Count</code> makes many of one.</p>
      <Editor label="Jobs to submit" rows={8} value={text} change={change} fault={place ? { ...place, text: act.error!.detail.replace(/^.*line \d+, column \d+: /, '') } : null} enter={() => void act.run()} />
      <div class="row">
        <label>Files that they read{' '}
          <input type="file" multiple onChange={(event) => { setFiles([...(event.currentTarget.files ?? [])]); setKey(crypto.randomUUID()); }} />
        </label>
        <span class="quiet">{files.length ? `${many(files.length, 'file')}, ${bytes(files.reduce((sum, file) => sum + file.size, 0))}: they lie in each job’s folder when it starts.` : 'up to 64 MiB together; larger ones are for berth submit'}</span>
      </div>
      <div class="row">
        <button type="button" class="main" disabled={act.busy} onClick={() => void act.run()}>Submit</button>
        <span role="status">{sent !== null ? `Sending the files: ${Math.floor(sent * 100)} %` : act.value?.map(({ First, Count }) => <span key={First}><a href={jobLink(desk, First)}>{Count > 1 ? `Jobs ${count(First)} to ${count(First + Count - 1)} submitted.` : `Job ${count(First)} submitted.`}</a>{' '}</span>)}</span>
      </div>
      {place ? null : <Problem error={act.error} />}
    </details>
  );
}

/** There is no customer to go to: why, and what to do. */
function Customerless({ subject }: { subject: string }): JSX.Element {
  const customers = useLoad((signal) => api.customers(signal), 'customers', 5000);
  return (
    <Shown of={customers}>
      {({ rows }: { rows: Agent[] }) => {
        const { why, steps } = customerless(subject, rows);
        return (
          <>
            <p>{why}</p>
            {steps.length ? <ul>{steps.map(({ where, command }) => <li key={command}>{where}: <code>{command}</code></li>)}</ul> : null}
            <p class="quiet">A customer of somebody else can be used if its token has the scope <code>serve</code>: <code>berth token code --customer NAME --serve</code> makes a code for such a one.</p>
          </>
        );
      }}
    </Shown>
  );
}

const shows = { '': 'Queue', workflows: 'Workflows', history: 'History' };
type Show = keyof typeof shows;

export function JobsView({ query }: { query: Route['query'] }): JSX.Element {
  const desks = useLoad((signal) => api.desks(signal), 'desks');
  const asked = query.get('show') ?? '', show = (asked in shows ? asked : '') as Show;
  const [turn, setTurn] = useState(0), { subject } = useStore(session);
  useTitle('Jobs');
  return (
    <>
      <h1>Jobs</h1>
      <Shown of={desks}>
        {(all: Desk[]) => {
          const desk = all.find((one) => one.Agent === query.get('desk')) ?? all.find((one) => one.Identity === subject) ?? all[0];
          if (!desk) return <Customerless subject={subject ?? ''} />;
          const go = (next: { desk?: string; show?: string }): void => routeGo(routeLink(['jobs'], { desk: desk.Agent, show, ...next }));
          return (
            <>
              <div class="row">
                {all.length > 1 ? (
                  <label>Customer{' '}
                    <select value={desk.Agent} onChange={(event) => go({ desk: event.currentTarget.value })}>
                      {all.map((one) => <option key={one.Agent} value={one.Agent}>{one.Name} ({one.Identity})</option>)}
                    </select>
                  </label>
                ) : <span class="quiet">Customer {desk.Name} ({desk.Identity})</span>}
                <Choice label="Which jobs" of={Object.entries(shows) as [Show, string][]} value={show} pick={(next) => go({ show: next })} />
              </div>
              <Submit key={desk.Agent} desk={desk.Agent} done={() => setTurn((n) => n + 1)} />
              <Section title={shows[show]}>{show === 'workflows' ? <Workflows key={`${desk.Agent}${turn}`} desk={desk.Agent} /> : <Queue key={`${desk.Agent}${show}${turn}`} desk={desk.Agent} past={show === 'history'} />}</Section>
            </>
          );
        }}
      </Shown>
    </>
  );
}
