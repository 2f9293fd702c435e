// job.tsx: one job: what it runs, where its time went, why it waits, what it prints, its files, what it used, and what one can do with it.
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { adLayOut } from '../adtext';
import { adAgain, draftKeep } from '../again';
import { api, ApiError, isGang, type AdText, type Explained, type Job, type Piece } from '../api';
import { Chart } from '../chart';
import { bytes, count, inCell, moment, percent, plannedSaid, real, span, spanSaid } from '../format';
import { useAct, useLoad, useTick, useTitle } from '../hooks';
import { command, jobLink, over, plannedOf, standing, tone, workflowLink } from '../jobwords';
import { deskNews, newsAfter, poolNews, type News } from '../news';
import { route, routeGo, routeLink, routeReplace, routeWith, type Route } from '../route';
import { Choice, Code, Copy, Problem, Section, Shown, Table, Tag, When } from '../ui';
import { GangTree } from './gang';
import { machineLink } from './machine_act';
import { WhyView } from './why';

type Stream = 'stdout' | 'stderr' | 'log';
const streams: [Stream, string][] = [['stdout', 'Output'], ['stderr', 'Errors'], ['log', 'What happened']];
const WAIT = 20, KEEP = 200_000, PAUSE = 2000;

interface Following {
  text: string;
  whole: boolean;
  error?: ApiError;
}

/** Reads a file as it grows: each question waits on the server until there is more. While there is no such file, news of its job are waited for. */
function useFollow(ask: (offset: number, wait: number, signal: AbortSignal) => Promise<Piece>, key: string, news: News): Following {
  const [state, setState] = useState<Following>({ text: '', whole: false });
  useEffect(() => {
    const abort = new AbortController(), decoder = new TextDecoder();
    let offset = 0, text = '', wait = 0;
    setState({ text: '', whole: false });
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const follow = async (): Promise<void> => {
      while (!abort.signal.aborted) {
        const heard = news.get();
        try {
          const got = await ask(offset, wait, abort.signal);
          wait = WAIT;
          offset += got.text.length;
          text = (text + decoder.decode(got.text, { stream: true })).slice(-KEEP);
          const whole = got.whole === true && (got.size === null || offset >= got.size);
          setState({ text, whole });
          if (whole) return;
          if (!got.text.length) await pause(PAUSE / 4);
        } catch (thrown) {
          if (abort.signal.aborted) return;
          const error = thrown instanceof ApiError ? thrown : undefined;
          if (error?.status !== 404) setState({ text, whole: false, error });
          if (error?.status === 403) return;
          await pause(PAUSE / 4);
          if (error?.status === 404) await newsAfter(news, heard, abort.signal);
          else await pause(PAUSE);
        }
      }
    };
    void follow();
    return () => abort.abort();
  }, [key]);
  return state;
}

/* --------------------------------------------------------------------------------------------------------------- output */

/** The text with what was searched for marked, and how often it is there. */
function marked(text: string, search: string): { pieces: ComponentChildren[]; hits: number } {
  if (!search) return { pieces: [text], hits: 0 };
  const low = text.toLowerCase(), what = search.toLowerCase(), pieces: ComponentChildren[] = [];
  let at = 0, hits = 0;
  for (let found = low.indexOf(what); found >= 0 && hits < 2000; found = low.indexOf(what, at)) {
    pieces.push(text.slice(at, found), <mark key={hits++}>{text.slice(found, found + what.length)}</mark>);
    at = found + what.length;
  }
  pieces.push(text.slice(at));
  return { pieces, hits };
}

function Output({ desk, id, stream, ended }: { desk: string; id: string; stream: Stream; ended: boolean }): JSX.Element {
  const box = useRef<HTMLPreElement>(null), low = useRef(true), [search, setSearch] = useState(() => route.get().query.get('find') ?? ''), [hit, setHit] = useState(0);
  const { text, whole, error } = useFollow(
    (offset, wait, signal) => (stream === 'log' ? api.jobLog(desk, id, offset, wait, signal) : api.jobFile(desk, id, 'log', stream, offset, wait, signal)),
    `${desk} ${id} ${stream}`, deskNews(desk),
  );
  const { pieces, hits } = useMemo(() => marked(text, search), [text, search]);
  useEffect(() => {
    if (low.current && !search && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text, search]);
  const go = (next: number): void => {
    setHit(next);
    const mark = box.current?.querySelectorAll('mark')[next];
    if (mark && box.current) box.current.scrollTop = mark.offsetTop - box.current.offsetTop - 60;
  };
  const size = text.length >= KEEP ? ` Its last ${count(KEEP)} characters are shown; all of it is among the files.` : '';
  return (
    <>
      <Problem error={error} />
      <div class="row">
        <input type="search" data-search aria-label="Search the output" placeholder="search the output" value={search} onInput={(event) => { setSearch(event.currentTarget.value); setHit(0); routeReplace(routeWith({ find: event.currentTarget.value })); }}
          onKeyDown={(event) => { if (event.key === 'Enter' && hits) go((hit + (event.shiftKey ? hits - 1 : 1)) % hits); }} />
        <span class="quiet" role="status">{search ? (hits ? `${count(hits)} found; Enter goes on` : 'not there') : ''}</span>
        <Copy text={text} what="the output" />
      </div>
      <pre ref={box} class="output" role="region" tabIndex={0} aria-label={streams.find(([word]) => word === stream)?.[1]} onScroll={(event) => { const of = event.currentTarget; low.current = of.scrollTop + of.clientHeight >= of.scrollHeight - 8; }}>{pieces}</pre>
      <p class="note">{(whole ? (text ? 'That is all.' : 'It wrote nothing there.') : ended ? (text ? '' : 'Nothing came of it.') : text ? 'More is shown as it comes.' : 'What it writes is shown as it comes. Nothing has come yet.') + size}</p>
    </>
  );
}

/* ------------------------------------------------------------------------------------------------------------ time line */

interface Stage {
  name: string;
  from: number;
  to?: number; // undefined: it goes on
  tone: string;
}

/** Where its time went, as far as is known: of a job that was begun several times, since its last try was matched. */
function stagesOf(job: Job): Stage[] {
  const { Submitted: submitted, Matched: matched, Started: started, Delivered: delivered } = job, isOver = over(job.State), stages: Stage[] = [];
  const ended = isOver ? job.Ended ?? (job.Since === undefined ? undefined : Math.floor(Date.now() / 1000) - job.Since) : undefined, last = job.State === 'Held' ? undefined : ended;
  if (!submitted) return [];
  const waits = job.State === 'Waiting' || job.State === 'Blocked' || job.State === 'Held';
  if (waits || !matched) return [{ name: job.State === 'Held' ? 'held' : isOver ? 'waited' : 'waits', from: submitted, to: last, tone: job.State === 'Held' ? 'warn' : 'wait' }];
  stages.push({ name: 'waited for a machine', from: submitted, to: matched, tone: 'wait' });
  if (!started) return [...stages, { name: isOver ? 'was claimed, files in' : 'is claimed, files come in', from: matched, to: last, tone: 'move' }];
  stages.push({ name: 'claimed, files in', from: matched, to: started, tone: 'move' });
  const done = isOver ? Math.min(ended ?? started, typeof job.WallUsed === 'number' ? started + job.WallUsed : Infinity) : undefined;
  stages.push({ name: isOver ? 'ran' : 'runs', from: started, to: done, tone: 'now' });
  if (done !== undefined && delivered !== undefined && delivered >= done) stages.push({ name: 'files out', from: done, to: delivered, tone: 'move' });
  return stages;
}

function TimeLine({ job }: { job: Job }): JSX.Element | null {
  useTick();
  const stages = stagesOf(job), now = Date.now() / 1000;
  if (!stages.length) return null;
  const lengths = stages.map((stage) => Math.max(0, (stage.to ?? now) - stage.from)), all = Math.max(1, lengths.reduce((sum, n) => sum + n, 0));
  return (
    <ol class="stages" aria-label="Where its time went">
      {stages.map((stage, i) => (
        <li key={stage.name} style={{ flexGrow: Math.max(4, 100 * lengths[i]! / all) }} title={`${moment(stage.from)} to ${stage.to === undefined ? 'now' : moment(stage.to)}`}>
          <span class={`strip ${stage.tone}`} aria-hidden="true" /><span>{stage.name}</span> <strong>{span(lengths[i]!)}</strong>
        </li>
      ))}
    </ol>
  );
}

function Facts({ job }: { job: Job }): JSX.Element {
  const facts: [string, ComponentChildren][] = [
    ['Owner', job.Owner],
    ['Where', job.Provider ? <a href={machineLink(job.Provider.split('/').pop()!)}>{job.Provider}</a> : undefined],
    ['Submitted', job.Submitted ? <When at={job.Submitted} /> : undefined],
    ['Waits until', job.WaitsUntil ? <When at={job.WaitsUntil} /> : undefined],
    ['Start', plannedOf(job)],
    ['Started', job.Started ? <When at={job.Started} /> : undefined],
    ['Ended', job.Ended ? <When at={job.Ended} /> : undefined],
    ['Processor time', typeof job.CpuUsed === 'number' ? span(job.CpuUsed) : undefined],
    ['Memory', typeof job.MemoryUsed === 'number' && job.MemoryUsed ? `${bytes(job.MemoryUsed)}${typeof job.MemoryGiven === 'number' ? ` of ${bytes(job.MemoryGiven)}` : ''}` : undefined],
    ['Tries', (job.Tries ?? 1) > 1 ? count(job.Tries!) : undefined],
    ['Exit status', job.Status === undefined ? undefined : job.Status < 0 ? `ended by signal ${-job.Status}` : String(job.Status)],
    ['Progress', typeof job.Progress === 'number' && job.State === 'Running' ? <progress value={job.Progress} aria-label="How far it is">{percent(job.Progress)}</progress> : undefined],
    ['It says', job.Message],
    ['Reason', job.Reason],
  ];
  return <dl class="facts">{facts.filter(([, value]) => value).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

/* ------------------------------------------------------------------------------------------------------------ over time */

function Samples({ job }: { job: Job }): JSX.Element | null {
  const of = job.Samples;
  const at = useMemo(() => Array.from({ length: of?.Memory?.length ?? of?.CpuPercent?.length ?? 0 }, (_, i) => (job.Started ?? 0) + i * (of?.Span ?? 10)), [of, job.Started]);
  if (!of || at.length < 2) return null;
  const chart = (title: string, values: number[] | undefined, show: (n: number) => string): JSX.Element | null => (values && values.some((n) => n > 0) ? <Chart title={title} at={at} layers={[{ name: title, tone: 'use', values }]} show={show} height={130} binary={show === bytes} /> : null);
  return (
    <Section title="Over its life" note="As its machine says.">
      <div class="columns">
        {chart('Memory', of.Memory, bytes)}
        {chart('Processors', of.CpuPercent?.map((n) => n / 100), real)}
        {chart('GPUs', of.GpuPercent?.map((n) => n / 100), percent)}
        {chart('Memory of GPUs', of.GpuMemory, bytes)}
      </div>
    </Section>
  );
}

/* ----------------------------------------------------------------------------------------------------------------- files */

const kinds: Record<string, string> = { output: 'output', log: 'log', checkpoint: 'checkpoint' };

function Files({ desk, id, ended }: { desk: string; id: string; ended: boolean }): JSX.Element {
  const files = useLoad((signal) => api.jobFiles(desk, id, signal), `${desk} ${id}`, { of: deskNews(desk) });
  const fetching = useAct(async (kind: string, name: string) => {
    let offset = 0;
    const parts: Uint8Array<ArrayBuffer>[] = [];
    for (;;) {
      const got = await api.jobFile(desk, id, kind, name, offset, 0);
      parts.push(new Uint8Array(got.text));
      offset += got.text.length;
      if (!got.text.length || (got.size !== null && offset >= got.size)) break;
    }
    const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(new Blob(parts, { type: 'application/octet-stream' })), download: name.split('/').pop() ?? 'file' });
    link.click();
    URL.revokeObjectURL(link.href);
  });
  return (
    <>
      <Problem error={fetching.error} />
      <Shown of={files}>
        {(rows) => (
          <Table label="Files" rows={rows} id={(file) => `${file.Kind}/${file.Name}`} empty={ended ? 'It has left no files.' : 'The files that it leaves stand here, to be saved.'} columns={[
            { name: 'File', cell: (file) => file.Name },
            { name: 'Kind', cell: (file) => kinds[file.Kind] ?? file.Kind },
            { name: 'Size', number: true, cell: (file) => bytes(file.Size) },
            { name: 'Whole', cell: (file) => (file.Whole ? 'yes' : ended ? 'no' : 'not yet') },
            { name: 'Save', cell: (file) => <button type="button" disabled={fetching.busy} onClick={() => void fetching.run(file.Kind, file.Name)} aria-label={`Save ${file.Name}`}>Save</button> },
          ]} />
        )}
      </Shown>
    </>
  );
}

/* ------------------------------------------------------------------------------------------------------------- waiting */

/** What its customer knows of claims for a job that waits; undefined: nothing. */
const claimsText = (job: Job): string | undefined => {
  if (job.Claiming && job.Claiming >= (job.Alike ?? 0)) return 'It is being claimed: a machine was found for it, and has not agreed yet.';
  if (!job.Rejected) return undefined;
  const vain = job.Rejected === 1 ? '1 claim came to nothing' : `${job.Rejected} claims in turn came to nothing; the last`;
  const told = job.Reason ?? `${vain}${job.RejectedBy ? `, at ${job.RejectedBy}` : ''}: ${job.RejectedFor ?? ''}`;
  return job.OfferedIn ? `It is offered again in ${job.OfferedIn} s: ${told}.` : `It was not claimed by those that were found for it: ${told}.`;
};

/** A bound, never a promise. */
function MayStart({ of }: { of: Explained }): JSX.Element | null {
  const start = of.start;
  if (start?.kind === 'planned') return <p>It is planned for about <strong>{plannedSaid(start.to ?? 0, Date.now() / 1000)}</strong>{start.on ? ` on ${start.on}` : ''}: who would be in its way does not begin there before.</p>;
  if (!start || start.kind !== 'limit') return start?.why ? <p class="quiet">When it may start cannot be told: {start.why}.</p> : null;
  if (start.to !== undefined) return <p>It may start within <strong>{spanSaid(start.to)}</strong>{start.on ? `: by then the claim on ${start.on} must have ended` : ''}, if nobody new comes first.</p>;
  return start.from === undefined ? null : <p>It cannot start before <strong>{spanSaid(start.from)}</strong> from now{start.on ? `: then ${start.on} lets jobs in` : ''}.</p>;
}

/** What its ad would match at this moment; nothing is taken by asking. */
function Waits({ ad, id, request, refused, claims }: { ad: AdText; id: string; request?: string; refused?: string; claims?: string }): JSX.Element {
  const why = useLoad(async (signal) => {
    const alone = (): Promise<Explained> => api.matchWhy(ad.text, ad.type, 'request', signal);
    if (!request) return alone();
    return api.adWhy(request, signal).catch((thrown: unknown) => { // the pool may not have it yet, or not any more
      if (thrown instanceof ApiError && thrown.status === 404) return alone();
      throw thrown;
    });
  }, ad.text, { of: poolNews, least: 10_000 });
  return (
    <Section title="What it waits for">
      {refused ? <p class="problem" role="alert"><strong>It cannot be matched:</strong> {refused}.</p> : null}
      {claims ? <p class="verdict"><Tag>claims</Tag> {claims}</p> : null}
      {why.value ? <MayStart of={why.value} /> : null}
      <Shown of={why}>{(said) => (isGang(said) ? <GangTree why={said} ad={ad} /> : <WhyView why={said} ad={ad} name={`job ${id}`} />)}</Shown>
    </Section>
  );
}

/* ----------------------------------------------------------------------------------------------------------------- all */

function Acts({ desk, id, job, ad, done }: { desk: string; id: string; job: Job; ad: AdText | undefined; done: () => void }): JSX.Element {
  const { State: state } = job, isOver = over(state);
  const act = useAct(async (verb: 'hold' | 'release' | 'remove') => {
    await api.control(desk, verb, { Ids: id }, 'by the page');
    done();
  });
  const again = useAct(async () => {
    const [made] = await api.submit(desk, adAgain(ad!.text), crypto.randomUUID());
    routeGo(jobLink(desk, made!.First));
  });
  const edit = (): void => {
    draftKeep(adLayOut(adAgain(ad!.text)));
    routeGo(routeLink(['submit'], { desk, draft: '1' }));
  };
  return (
    <>
      <div class="row">
        {isOver ? null : <>
          {state === 'Held' ? <button type="button" class="main" disabled={act.busy} onClick={() => void act.run('release')}>Release</button> : <button type="button" disabled={act.busy} onClick={() => void act.run('hold')}>Hold</button>}
          <button type="button" disabled={act.busy} onClick={() => void act.run('remove')}>Remove</button>
        </>}
        <button type="button" class={isOver ? 'main' : ''} disabled={!ad || again.busy} onClick={() => void again.run()}>Run again</button>
        <button type="button" disabled={!ad} onClick={edit}>Edit and submit</button>
      </div>
      <Problem error={act.error ?? again.error} />
    </>
  );
}

export function JobView({ desk, id, query }: { desk: string; id: string; query: Route['query'] }): JSX.Element {
  const news = deskNews(desk), job = useLoad((signal) => api.job(desk, id, signal), `${desk} ${id}`, { of: news });
  const state = job.value?.State ?? '', again = job.again, ended = over(state);
  const ad = useLoad((signal) => api.jobAd(desk, id, signal), state ? `${desk} ${id} ${state}` : null);
  const stream = streams.find(([word]) => word === query.get('show'))?.[0] ?? 'stdout';
  useTitle(`Job ${id}`);
  const { value } = job, line = value ? command(value) : '';
  return (
    <>
      <p class="crumbs"><a href={routeLink(['jobs'], { desk })}>Jobs</a> › {id}{value?.Workflow ? <> · node {inCell(value.Node)} of <a href={workflowLink(desk, value.Workflow)}>workflow {value.Workflow}</a></> : null}</p>
      <h1 class="command">{value ? <><code>{line}</code> <Copy text={line} what="the command" /> <Tag tone={tone(value)}>{standing(value)}</Tag></> : `Job ${id}`}</h1>
      <Shown of={job}>
        {(of) => (
          <>
            <Acts desk={desk} id={id} job={of} ad={ad.value} done={again} />
            <TimeLine job={of} />
            {state === 'Waiting' && ad.value ? <Waits ad={ad.value} id={id} request={of.Request} refused={of.Rejected ? undefined : of.Reason} claims={claimsText(of)} /> : null}
            <Facts job={of} />
            <Section title="Output" side={<Choice label="What to follow" of={streams} value={stream} pick={(next) => routeGo(routeWith({ show: next === 'stdout' ? undefined : next }))} />}>
              <Output key={stream} desk={desk} id={id} stream={stream} ended={ended} />
            </Section>
            <Section title="Files"><Files desk={desk} id={id} ended={ended} /></Section>
            <Samples job={of} />
            <details><summary>Its ad</summary><Shown of={ad}>{({ text }) => <><Copy text={adLayOut(text)} what="the ad" /><Code text={adLayOut(text)} /></>}</Shown></details>
          </>
        )}
      </Shown>
    </>
  );
}
