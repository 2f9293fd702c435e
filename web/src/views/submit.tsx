// submit.tsx: jobs from the page: a command and its files by a form, the ad that this makes beside it, or a submit file; and what is wrong with it, and what
// the pool says to it, before it is sent.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { adLayOut, adsOf, attributeOf, cut } from '../adtext';
import { draftTake } from '../again';
import { api, ApiError, type AdText, type Explained, isGang, type Linted } from '../api';
import { AtDesk } from '../desks';
import { Editor } from '../editor';
import { bytes, count, many, spanSaid } from '../format';
import { type Loaded, useAct, useLoad, useQuiet, useTitle } from '../hooks';
import { inputsMissing, inputsSend, inputsWrite } from '../inputs';
import { jobLink } from '../jobwords';
import { routeGo, routeLink, type Route } from '../route';
import { session } from '../session';
import { wordsOf } from '../shellwords';
import { Code, Problem, Section, Tag } from '../ui';
import { GangTree } from './gang';
import { onlyWaits, WhyView } from './why';

interface Form {
  command: string;
  cpus: string;
  memory: string; // GiB
  gpus: string;
  image: string;
  jobs: string;
}

const first: Form = { command: '', cpus: '', memory: '', gpus: '', image: '', jobs: '' };
const quoted = (text: string): string => JSON.stringify(text);

/** The ad of a form. */
function adMake(form: Form): string {
  const [cmd = '', ...args] = wordsOf(form.command), lines = [`Cmd = ${quoted(cmd)}`];
  if (args.length) lines.push(`Args = { ${args.map(quoted).join(', ')} }`);
  if (Number(form.cpus) > 0) lines.push(`RequestCpus = ${Number(form.cpus)}`);
  if (Number(form.memory) > 0) lines.push(`RequestMemory = ${Number.isInteger(Number(form.memory)) ? `${Number(form.memory)}G` : `${Math.round(Number(form.memory) * 1024)}M`}`);
  if (Number(form.gpus) > 0) lines.push(`RequestGpus = ${Math.round(Number(form.gpus))}`);
  if (form.image.trim()) lines.push(`Image = ${quoted(form.image.trim())}`);
  if (Number(form.jobs) > 1) lines.push(`Count = ${Math.round(Number(form.jobs))}`);
  return `[\n    ${lines.join(';\n    ')}\n]`;
}

/** Is it a submit file of HTCondor's? Those have a line `queue`, and no bracket around them. */
const isSubmitFile = (text: string): boolean => /^\s*queue\b(?!\s*=)/im.test(text) && !text.trimStart().startsWith('[');

const defaults: [string, string][] = [['RequestCpus', '1'], ['RequestMemory', '512M'], ['RequestDisk', '1G']];

/** The ads of a submit file, each with what `berth submit` would fill in: their constraints read it. */
const filled = (ads: string): string => adsOf(ads).map((part) => {
  const ad = cut(ads, part), more = defaults.filter(([name]) => !attributeOf(ad, name)).map(([name, value]) => `; ${name} = ${value}`).join('');
  return `${ad.slice(0, -1).replace(/;?\s*$/, '')}${more} ]`;
}).join('\n');

/** The first ad, as the pool would see it. */
function asRequest(text: string): AdText | null {
  const [ad] = adsOf(text), whole = ad && cut(text, ad);
  if (!whole) return null;
  return { text: attributeOf(whole, 'Type') ? whole : `${whole.slice(0, -1).replace(/;?\s*$/, '')}; Type = "Job" ]`.replace(/^\[\s*;/, '['), type: 'application/classad', etag: null };
}

function Verdict({ why, ad }: { why: Explained; ad: AdText }): JSX.Element {
  const good = why.verdict === 'matches' || ('matching' in why && why.matching > 0), waits = onlyWaits(why), reason = why.reasons?.[0];
  const start = why.start?.to;
  return (
    <>
      <p class="verdict"><Tag tone={good ? 'good' : waits ? undefined : 'warn'}>{good ? 'can run now' : waits ? 'will wait' : why.verdict === 'never' ? 'can never run' : 'cannot run as things are'}</Tag>{' '}
        {good && 'matching' in why ? `${many(why.matching, 'offer')} would take it.` : reason && why.first !== 'soon' ? `It ${reason.text}.` : ''}{start === undefined ? '' : ` It may start within ${spanSaid(start)}.`}</p>
      <details><summary>{good ? 'What it would match' : 'Why, and what would help'}</summary>{isGang(why) ? <GangTree why={why} ad={ad} /> : <WhyView why={why} ad={ad} name="it" />}</details>
    </>
  );
}

/** What the pool says to it: as `berth why` would once it is there. Nothing is kept by asking. */
function Check({ text }: { text: string }): JSX.Element | null {
  const ad = asRequest(text), ads = adsOf(text).length;
  const found = useLoad((signal) => api.matchWhy(ad!.text, ad!.type, 'request', signal), ad && ad.text);
  if (!ad) return null;
  return (
    <div aria-live="polite">
      {found.error ? (found.error.status === 403 ? <p class="quiet">Whether it could run is told to tokens with the scope match.</p> : <Problem error={found.error} />) : found.value ? <Verdict why={found.value} ad={ad} /> : <p class="quiet">Asking the pool …</p>}
      {ads > 1 ? <p class="quiet">Of {count(ads)} ads the first is looked at.</p> : null}
    </div>
  );
}

/** What is wrong with it that needs no pool to see, as `berth lint` says; of a submit file what is not carried over, and the ads that it makes. */
function Findings({ of }: { of: Loaded<Linted> }): JSX.Element | null {
  const found = of.value;
  if (!found || (found.Fault && !found.Findings.length && !found.Remarks.length)) return null;
  const several = found.Count > 1, text = filled(found.Ads ?? ''), ads = adsOf(text).map((ad) => adLayOut(cut(text, ad)));
  return (
    <div aria-live="polite">
      {found.Findings.length || found.Remarks.length ? (
        <ul class="attend" aria-label="What is wrong with it">
          {found.Findings.map((row, i) => <li key={i}><Tag tone="warn">look</Tag><span>{several ? `ad ${row.Ad}, ` : ''}{row.Attribute}: {row.Text}.</span></li>)}
          {found.Remarks.map((row, i) => <li key={`remark ${i}`}><Tag tone="warn">left out</Tag><span>line {row.Line}: {row.Text}</span></li>)}
        </ul>
      ) : <p class="quiet">Nothing is wrong with it that can be seen without the pool.</p>}
      {ads.length ? <details><summary>{ads.length === 1 ? 'The ad that this submit file makes' : `The ${count(ads.length)} ads that this submit file makes`}</summary><Code text={ads.join('\n')} /></details> : null}
    </div>
  );
}

function Files({ files, change }: { files: File[]; change: (files: File[]) => void }): JSX.Element {
  const [over, setOver] = useState(false);
  const add = (more: FileList | null | undefined): void => change([...files.filter((old) => ![...(more ?? [])].some((one) => one.name === old.name)), ...(more ?? [])]);
  return (
    <div class={`drop ${over ? 'over' : ''}`} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
      onDrop={(event) => { event.preventDefault(); setOver(false); add(event.dataTransfer?.files); }}>
      <label>Files that they read{' '}<input type="file" multiple onChange={(event) => { add(event.currentTarget.files); event.currentTarget.value = ''; }} /></label>
      <p class="quiet">{files.length ? `${many(files.length, 'file')}, ${bytes(files.reduce((sum, file) => sum + file.size, 0))}: they lie in each job’s folder when it starts.` : 'or drop them here: up to 64 MiB together; larger ones are for berth submit'}</p>
      {files.length ? <ul class="chips">{files.map((file) => <li key={file.name}><button type="button" class="chip" aria-label={`Leave out ${file.name}`} onClick={() => change(files.filter((one) => one !== file))}>{file.name} ✕</button></li>)}</ul> : null}
    </div>
  );
}

function Field({ label, value, change, ...more }: { label: string; value: string; change: (value: string) => void } & Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'value' | 'label'>): JSX.Element {
  return <label class="field"><span>{label}</span><input {...more} value={value} onInput={(event) => change(event.currentTarget.value)} /></label>;
}

const examples: [string, string][] = [
  ['Say hello', 'sh -c "echo hello from $(hostname); sleep 5"'],
  ['Count for a while', 'sh -c "for i in 1 2 3 4 5; do echo line $i; sleep 1; done"'],
];

interface Kept {
  form: Form;
  own: string | null; // written by hand
  files: File[];
}

/* What was filled in for each customer and not sent: who looks at something else meanwhile finds it again. It is not in the address: nobody shall be led to a form with a command of somebody else's. */
const kept = new Map<string, Kept>();
session.watch(({ token }) => { if (!token) kept.clear(); });

function SubmitForm({ desk, draft }: { desk: string; draft: string | null }): JSX.Element {
  const before = draft === null ? kept.get(desk) : undefined;
  const [form, setForm] = useState(before?.form ?? first), [own, setOwn] = useState<string | null>(draft ?? before?.own ?? null), [files, setFiles] = useState<File[]>(before?.files ?? []);
  useLayoutEffect(() => void kept.set(desk, { form, own, files }), [form, own, files]);
  const [key, setKey] = useState(() => crypto.randomUUID()), [sent, setSent] = useState<number | null>(null);
  const text = own ?? adMake(form), ready = own !== null || form.command.trim() !== '';
  const quiet = useQuiet(text, 400), linted = useLoad((signal) => api.lint(quiet, signal), ready ? quiet : null), foreign = isSubmitFile(quiet), looked = foreign ? filled(linted.value?.Ads ?? '') : quiet;
  const missing = foreign ? inputsMissing(looked, files) : [];
  useEffect(() => setKey(crypto.randomUUID()), [text, files]); // the same key again would be the same submission
  const act = useAct(async () => {
    let ads = text;
    if (isSubmitFile(text)) {
      const made = await api.lint(text);
      if (made.Fault !== undefined || !made.Ads) throw new ApiError(400, 'That cannot be read', `line ${made.Line ?? 1}, column ${made.Column ?? 1}: ${made.Fault ?? 'it makes no job'}`);
      ads = filled(made.Ads);
    }
    if (files.length) {
      if (inputsWrite(ads, files.map(({ name, size }) => ({ name, size, hash: '', runs: false }))) === null) {
        const lacking = inputsMissing(ads, files);
        throw new ApiError(400, 'Inputs', lacking.length ? `An ad names files that are not chosen here: ${lacking.join(', ')}.` : 'An ad has Inputs of its own: leave them out, or choose no files here.');
      }
      try {
        setSent(0);
        ads = inputsWrite(ads, await inputsSend(desk, files, setSent)) ?? ads;
      } finally {
        setSent(null);
      }
    }
    const told = await api.submit(desk, ads, key);
    kept.delete(desk);
    setKey(crypto.randomUUID());
    return told;
  });
  const set = (part: Partial<Form>): void => { setForm((old) => ({ ...old, ...part })); act.clear(); };
  const place = act.error?.status === 400 ? act.error.place : null, wrong = linted.value;
  const fault = place ? { ...place, text: act.error!.detail.replace(/^.*line \d+, column \d+: /, '') } : wrong?.Fault && wrong.Line && quiet === text ? { line: wrong.Line, column: wrong.Column ?? 1, text: wrong.Fault } : null;
  const send = (event?: Event): void => { event?.preventDefault(); if (ready && !act.busy) void act.run(); };
  return (
    <div class="columns">
      <form class="submit" onSubmit={send}>
        {own === null ? (
          <>
            <Field label="Command" data-search autofocus spellcheck={false} autocomplete="off" class="mono" placeholder="./analyse --threads 4 data.csv" value={form.command} change={(command) => set({ command })} />
            {form.command ? null : <p class="row">{examples.map(([name, command]) => <button key={name} type="button" class="chip" onClick={() => set({ command })}>{name}</button>)}</p>}
            <div class="fields">
              <Field label="Processors" type="number" min="0" step="any" placeholder="1" value={form.cpus} change={(cpus) => set({ cpus })} />
              <Field label="Memory, GiB" type="number" min="0" step="any" placeholder="the default" value={form.memory} change={(memory) => set({ memory })} />
              <Field label="GPUs" type="number" min="0" placeholder="0" value={form.gpus} change={(gpus) => set({ gpus })} />
              <Field label="How many jobs" type="number" min="1" placeholder="1" value={form.jobs} change={(jobs) => set({ jobs })} />
            </div>
            <Field label="Image" spellcheck={false} placeholder="none; or docker://python:3.12" value={form.image} change={(image) => set({ image })} />
          </>
        ) : <p>What stands beside this was written by hand. <button type="button" onClick={() => setOwn(null)}>Back to the form</button></p>}
        <Files files={files} change={(next) => { setFiles(next); act.clear(); }} />
        {missing.length ? <p class="row"><Tag tone="warn">files</Tag> <span>It reads {missing.join(', ')}: choose {missing.length === 1 ? 'it' : 'them'} here.</span></p> : null}
        {ready ? <Check text={looked} /> : null}
        <div class="row">
          <button type="submit" class="main" disabled={act.busy || !ready}>Submit</button>
          <span role="status">{sent !== null ? `Sending the files: ${Math.floor(sent * 100)} %` : act.value?.map(({ First, Count }) => <span key={First}><a href={Count > 1 ? routeLink(['jobs'], { desk, show: 'jobs', ids: `${First}-${First + Count - 1}` }) : jobLink(desk, First)}>{Count > 1 ? `Jobs ${First} to ${First + Count - 1} submitted.` : `Job ${First} submitted.`}</a>{' '}</span>)}</span>
        </div>
        {place ? null : <Problem error={act.error} />}
      </form>
      <Section title={foreign ? 'The submit file' : 'The ad'} note={<>What is sent: one job, or <code>Count</code> of them. Write in it for all that the form has no field for; several ads after one another are several jobs. A submit file of HTCondor’s can stand here as well.</>}>
        <Editor label="Jobs to submit" rows={8} value={text} change={(next) => { setOwn(next); act.clear(); }} fault={fault} enter={() => send()} />
        {ready ? <Findings of={linted} /> : null}
      </Section>
    </div>
  );
}

export function SubmitView({ query }: { query: Route['query'] }): JSX.Element {
  const [draft] = useState(() => (query.get('draft') ? draftTake() : null));
  useTitle('Submit');
  return (
    <>
      <h1>Submit</h1>
      <AtDesk named={query.get('desk')} pick={(desk) => routeGo(routeLink(['submit'], { desk }))}>{(desk) => <SubmitForm key={desk.Agent} desk={desk.Agent} draft={draft} />}</AtDesk>
    </>
  );
}
