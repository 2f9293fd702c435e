// config.tsx: what the pool serves its agents as configuration: its sections, each watched, edited, taken away, and made again what it was.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { adLayOut } from '../adtext';
import { api, type ApiError, type Revision, type SectionText } from '../api';
import { Editor, type Fault } from '../editor';
import { count, inLanguage } from '../format';
import { useAct, useLoad, useTitle } from '../hooks';
import { poolNews } from '../news';
import { routeGo, routeLink } from '../route';
import { scopeHas, session } from '../session';
import { useStore } from '../store';
import { Code, Problem, Section, Shown, Table, Tag, When } from '../ui';

const sectionLink = (name: string): string => routeLink(['config', name]);
const GOOD = /^[A-Za-z_][A-Za-z0-9_]*$/;
const WAIT = 20; // seconds that a question for news waits

function By({ of }: { of: { By?: string } }): JSX.Element {
  return of.By ? <>{of.By}</> : <span class="quiet">not known</span>;
}

function Begin(): JSX.Element {
  const [name, setName] = useState(''), good = GOOD.test(name);
  return (
    <form class="row" onSubmit={(event) => { event.preventDefault(); if (good) routeGo(sectionLink(name)); }}>
      <label>A section{' '}<input type="text" value={name} placeholder="Agent" onInput={(event) => setName(event.currentTarget.value.trim())} /></label>
      <button type="submit" disabled={!good}>Open</button>
      {name && !good ? <span class="quiet">A name has letters, digits and _, and begins with no digit.</span> : null}
    </form>
  );
}

export function ConfigsView(): JSX.Element {
  const sections = useLoad((signal) => api.sections(signal), 'sections', { of: poolNews, least: 5000 });
  useTitle('Configuration');
  return (
    <>
      <h1>Configuration</h1>
      <Section title="Sections" note={<>Settings that the pool serves to its agents. Customers and providers whose <code>ConfigSources</code> name this pool take the section <code>Agent</code> when they start, below all that they are told themselves; other programs read what they like. The matchmaker itself reads none of it.</>}>
        <Shown of={sections}>
          {({ rows }) => (
            <Table label="Sections" rows={rows} id={(row) => row.Section} empty="Nothing is served yet. Name a section here, as Agent, and write its settings." columns={[
              { name: 'Section', cell: (row) => <a href={sectionLink(row.Section)}>{row.Section}</a> },
              { name: 'Settings', number: true, cell: (row) => count(row.Options) },
              { name: 'Revision', number: true, cell: (row) => (row.Revision === undefined ? '' : count(row.Revision)) },
              { name: 'Changed', cell: (row) => (row.Time ? <When at={row.Time} /> : '') },
              { name: 'By', cell: (row) => <By of={row} /> },
            ]} />
          )}
        </Shown>
        <Begin />
      </Section>
    </>
  );
}

/* ------------------------------------------------------------------------------------------------------------ one section */

/** What a section is, from now on: the answer to each question comes when it is another. `undefined`: that is not known yet. */
function useWatched(name: string): { value?: SectionText; error?: ApiError; turn: number } {
  const [state, setState] = useState<{ value?: SectionText; error?: ApiError; turn: number }>({ turn: 0 });
  useEffect(() => {
    const abort = new AbortController();
    const watch = async (): Promise<void> => {
      for (let known: SectionText | undefined; !abort.signal.aborted;) {
        try {
          const next: SectionText = await api.section(name, known, known ? WAIT : undefined, abort.signal);
          if (!known || next.etag !== known.etag) setState((old) => ({ value: next, turn: old.turn + 1 }));
          known = next;
        } catch (thrown) {
          if (abort.signal.aborted) return;
          const error = thrown as ApiError;
          setState((old) => ({ ...old, error }));
          if (error.status === 400 || error.status === 403) return;
          await new Promise((resolve) => setTimeout(resolve, 5000));
        }
      }
    };
    void watch();
    return () => abort.abort();
  }, [name]);
  return state;
}

const faultOf = (error: ApiError | undefined): Fault | null =>
  error?.status === 400 && error.place ? { ...error.place, text: error.detail.replace(/^line \d+, column \d+: /, '') } : null;

function History({ name, now, may, turn, done }: { name: string; now: SectionText; may: boolean; turn: number; done: (words: string) => void }): JSX.Element {
  const past = useLoad((signal) => api.revisions(name, signal), `${name} ${turn}`);
  const back = useAct(async (number: number) => {
    await api.revisionBack(name, number, now.etag);
    done(`It is again what it was at revision ${number}.`);
  });
  return (
    <Section title="What it was" note="The newest first; the last hundred are kept.">
      <Problem error={back.error} />
      {past.error?.status === 404 ? <p class="empty">It was never written.</p> : (
        <Shown of={past}>
          {({ rows }) => (
            <Table label="Revisions" rows={[...rows].reverse()} id={(row: Revision) => String(row.Number)} empty="It was never written." columns={[
              { name: 'Revision', number: true, cell: (row) => count(row.Number) },
              { name: 'When', cell: (row) => (row.Time ? <When at={row.Time} /> : '') },
              { name: 'By', cell: (row) => <By of={row} /> },
              { name: 'The section', cell: (row) => (row.Section === undefined ? <Tag>taken away</Tag> : <code>{inLanguage(row.Section)}</code>) },
              ...(may ? [{ name: 'Act', cell: (row: Revision) => <button type="button" disabled={back.busy} onClick={() => void back.run(row.Number)}>Make it so again</button> }] : []),
            ]} />
          )}
        </Shown>
      )}
    </Section>
  );
}

const blank = '[\n    \n]';
const laidOut = (of: SectionText): string => (of.text === null ? blank : adLayOut(of.text));

function One({ name, now, turn }: { name: string; now: SectionText; turn: number }): JSX.Element {
  const may = scopeHas(useStore(session), 'config') !== false, [draft, setDraft] = useState(laidOut(now)), [base, setBase] = useState(now), [told, setTold] = useState(''), mine = useRef('');
  const edited = draft !== laidOut(base), newer = base.etag !== now.etag;
  const take = (): void => { setBase(now); setDraft(laidOut(now)); };
  useEffect(() => { // what nobody has edited here follows what is there
    if (newer && (!edited || mine.current === draft)) take();
  }, [now]);
  const save = useAct(async () => {
    mine.current = draft;
    await api.sectionPut(name, draft, base.etag);
    setTold('Saved. Agents take it at their next start.');
  });
  const remove = useAct(async () => {
    mine.current = draft;
    await api.sectionDelete(name, base.etag);
    setTold('It was taken away.');
  });
  const busy = save.busy || remove.busy, fault = faultOf(save.error);
  return (
    <>
      <Section title="What it is" side={now.text === null ? <Tag>not there</Tag> : undefined} note={may ? 'An ad: a setting a line. Others’ changes are seen here at once; nothing is written over what you have not seen.' : undefined}>
        {may ? (
          <>
            <Editor label={`Section ${name}`} rows={10} value={draft} change={(text) => { setDraft(text); setTold(''); save.clear(); }} fault={fault} enter={() => void save.run()} />
            {newer && edited ? <p class="problem" role="alert">It was changed meanwhile: what you write here is about what it was before. <button type="button" onClick={take}>Take what is there now</button></p> : null}
            <div class="row">
              <button type="button" class="main" disabled={busy || (!edited && now.text !== null)} onClick={() => void save.run()}>Save</button>
              <button type="button" disabled={busy || !edited} onClick={take}>Undo my changes</button>
              <button type="button" disabled={busy || now.text === null} onClick={() => void remove.run()}>Take the section away</button>
              <span role="status" class="quiet">{told}</span>
            </div>
            {fault ? null : <Problem error={save.error} />}
            <Problem error={remove.error} />
          </>
        ) : now.text === null ? <p class="empty">There is no such section.</p> : <><Code text={laidOut(now)} /><p class="quiet">To change it a token needs the scope config; yours does not have it.</p></>}
      </Section>
      <History name={name} now={now} may={may} turn={turn} done={setTold} />
    </>
  );
}

export function ConfigView({ name }: { name: string }): JSX.Element {
  const { value, error, turn } = useWatched(name);
  useTitle(`Section ${name}`);
  return (
    <>
      <h1>Section <span class="id">{name}</span></h1>
      <p><a href="#/config">All sections</a></p>
      <Problem error={error} />
      {value ? <One name={name} now={value} turn={turn} /> : error ? null : <p class="quiet">Loading …</p>}
    </>
  );
}
