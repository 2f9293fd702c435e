// job.tsx: one job: how it stands, what it prints, its log and files, and what one can do with it.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { adLayOut } from '../adtext';
import { api, ApiError, isGang, type AdText, type Explained, type Job, type Piece } from '../api';
import { bytes, count, inCell, moment, span } from '../format';
import { useAct, useLoad, useTitle } from '../hooks';
import { routeLink } from '../route';
import { Choice, Code, Problem, Section, Shown, Table, Tag } from '../ui';
import { GangTree } from './gang';
import { over, standing, tone, workflowLink } from './jobs';
import { WhyView } from './why';

type Stream = 'stdout' | 'stderr' | 'log';
const streams: [Stream, string][] = [['stdout', 'Output'], ['stderr', 'Errors'], ['log', 'What happened']];
const WAIT = 20, KEEP = 200_000, PAUSE = 2000;

interface Following {
  text: string;
  whole: boolean;
  error?: ApiError;
}

/** Reads a file as it grows: each question waits on the server until there is more. */
function useFollow(ask: (offset: number, wait: number, signal: AbortSignal) => Promise<Piece>, key: string): Following {
  const [state, setState] = useState<Following>({ text: '', whole: false });
  useEffect(() => {
    const abort = new AbortController(), decoder = new TextDecoder();
    let offset = 0, text = '';
    setState({ text: '', whole: false });
    const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
    const follow = async (): Promise<void> => {
      while (!abort.signal.aborted) {
        try {
          const got = await ask(offset, offset ? WAIT : 0, abort.signal);
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
          await pause(PAUSE);
        }
      }
    };
    void follow();
    return () => abort.abort();
  }, [key]);
  return state;
}

function Output({ desk, id, stream }: { desk: string; id: string; stream: Stream }): JSX.Element {
  const box = useRef<HTMLPreElement>(null), low = useRef(true);
  const { text, whole, error } = useFollow(
    (offset, wait, signal) => (stream === 'log' ? api.jobLog(desk, id, offset, wait, signal) : api.jobFile(desk, id, 'log', stream, offset, wait, signal)),
    `${desk} ${id} ${stream}`,
  );
  useEffect(() => {
    if (low.current && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  return (
    <>
      <Problem error={error} />
      <pre ref={box} class="output" tabIndex={0} aria-label={streams.find(([word]) => word === stream)?.[1]} onScroll={(event) => { const of = event.currentTarget; low.current = of.scrollTop + of.clientHeight >= of.scrollHeight - 8; }}>{text}</pre>
      <p class="note">{whole ? 'That is all.' : text ? 'More may come; it is shown as it comes.' : 'Nothing yet.'}</p>
    </>
  );
}

function Facts({ job }: { job: Job }): JSX.Element {
  const facts: [string, string | undefined][] = [
    ['Owner', job.Owner],
    ['Where', job.Provider],
    ['Submitted', job.Submitted ? moment(job.Submitted) : undefined],
    ['Started', job.Started ? moment(job.Started) : undefined],
    ['In this state for', job.Since !== undefined && !over(job.State) ? span(job.Since) : undefined],
    ['Ran', typeof job.WallUsed === 'number' ? span(job.WallUsed) : undefined],
    ['Processor time', typeof job.CpuUsed === 'number' ? span(job.CpuUsed) : undefined],
    ['Memory', typeof job.MemoryUsed === 'number' ? bytes(job.MemoryUsed) : undefined],
    ['Tries', job.Tries === undefined ? undefined : count(job.Tries)],
    ['Ended', job.Ended ? moment(job.Ended) : undefined],
    ['Status', job.Status === undefined ? undefined : job.Status < 0 ? `ended by signal ${-job.Status}` : String(job.Status)],
    ['It says', job.Message],
    ['Reason', job.Reason],
  ];
  return <dl class="facts">{facts.filter(([, value]) => value).map(([name, value]) => <div key={name}><dt>{name}</dt><dd>{value}</dd></div>)}</dl>;
}

function Files({ desk, id, state }: { desk: string; id: string; state: string }): JSX.Element {
  const files = useLoad((signal) => api.jobFiles(desk, id, signal), `${desk} ${id} ${state}`, 5000);
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
          <Table label="Files" rows={rows} id={(file) => `${file.Kind}/${file.Name}`} empty="No files yet." columns={[
            { name: 'File', cell: (file) => file.Name },
            { name: 'Kind', cell: (file) => file.Kind },
            { name: 'Size', number: true, cell: (file) => bytes(file.Size) },
            { name: 'Whole', cell: (file) => (file.Whole ? 'yes' : 'not yet') },
            { name: 'Fetch', cell: (file) => <button type="button" disabled={fetching.busy} onClick={() => void fetching.run(file.Kind, file.Name)} aria-label={`Save ${file.Name}`}>Save</button> },
          ]} />
        )}
      </Shown>
    </>
  );
}

/** What its customer knows of claims for a job that waits; undefined: nothing. */
const claimsText = (job: Job): string | undefined => {
  if (job.Claiming && job.Claiming >= (job.Alike ?? 0)) return 'It is being claimed: a machine was found for it, and has not agreed yet.';
  if (!job.Rejected) return undefined;
  const vain = job.Rejected === 1 ? '1 claim came to nothing' : `${job.Rejected} claims in turn came to nothing; the last`;
  const told = job.Reason ?? `${vain}${job.RejectedBy ? `, at ${job.RejectedBy}` : ''}: ${job.RejectedFor ?? ''}`;
  return job.OfferedIn ? `It is offered again in ${job.OfferedIn} s: ${told}.` : `It was not claimed by those that were found for it: ${told}.`;
};

/** What its ad would match at this moment; nothing is taken by asking. */
function Waits({ ad, id, request, refused, claims }: { ad: AdText; id: string; request?: string; refused?: string; claims?: string }): JSX.Element {
  const why = useLoad(async (signal) => {
    const alone = (): Promise<Explained> => api.matchWhy(ad.text, ad.type, 'request', signal);
    if (!request) return alone();
    return api.adWhy(request, signal).catch((thrown: unknown) => { // the pool may not have it yet, or not any more
      if (thrown instanceof ApiError && thrown.status === 404) return alone();
      throw thrown;
    });
  }, ad.text);
  return (
    <Section title="What it waits for">
      {refused ? <p class="problem" role="alert"><strong>It cannot be matched:</strong> {refused}.</p> : null}
      {claims ? <p class="verdict"><Tag tone="warn">claims</Tag> {claims}</p> : null}
      <Shown of={why}>{(said) => (isGang(said) ? <GangTree why={said} ad={ad} /> : <WhyView why={said} ad={ad} name={`job ${id}`} />)}</Shown>
    </Section>
  );
}

export function JobView({ desk, id }: { desk: string; id: string }): JSX.Element {
  const job = useLoad((signal) => api.job(desk, id, signal), `${desk} ${id}`, 1500);
  const state = job.value?.State ?? '';
  const ad = useLoad((signal) => api.jobAd(desk, id, signal), state ? `${desk} ${id} ${state}` : null);
  const [stream, setStream] = useState<Stream>('stdout');
  const act = useAct(async (verb: 'hold' | 'release' | 'remove') => {
    await api.control(desk, verb, { Ids: id }, 'by the page');
    job.again();
  });
  useTitle(`Job ${id}`);
  return (
    <>
      <h1>Job <span class="id">{id}</span> {job.value ? <Tag tone={tone(job.value)}>{standing(job.value)}</Tag> : null}</h1>
      <p><a href={routeLink(['jobs'], { desk })}>All jobs</a>{job.value?.Workflow ? <> · node {inCell(job.value.Node)} of <a href={workflowLink(desk, inCell(job.value.Workflow))}>workflow {inCell(job.value.Workflow)}</a></> : null}</p>
      <Shown of={job}>
        {(value) => (
          <>
            <div class="row">
              <button type="button" disabled={act.busy || over(state) || state === 'Held'} onClick={() => void act.run('hold')}>Hold</button>
              <button type="button" disabled={act.busy || state !== 'Held'} onClick={() => void act.run('release')}>Release</button>
              <button type="button" disabled={act.busy || over(state)} onClick={() => void act.run('remove')}>Remove</button>
            </div>
            <Problem error={act.error} />
            <Facts job={value} />
          </>
        )}
      </Shown>
      {job.value ? (
        <>
          {state === 'Waiting' && ad.value ? <Waits ad={ad.value} id={id} request={job.value.Request} refused={job.value.Rejected ? undefined : job.value.Reason} claims={claimsText(job.value)} /> : null}
          <Section title="Output" side={<Choice label="What to follow" of={streams} value={stream} pick={setStream} />}>
            <Output key={stream} desk={desk} id={id} stream={stream} />
          </Section>
          <Section title="Files"><Files desk={desk} id={id} state={state} /></Section>
          <Section title="The ad"><Shown of={ad}>{({ text }) => <Code text={adLayOut(text)} />}</Shown></Section>
        </>
      ) : null}
    </>
  );
}
