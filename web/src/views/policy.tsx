// policy.tsx: the administrative policy: what holds, what another would change, and applying it.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { adLayOut } from '../adtext';
import { api, type ApiError, type Compared } from '../api';
import { Editor } from '../editor';
import { count, many } from '../format';
import { useAct, useLoad, useQuiet, useTitle } from '../hooks';
import { adLink, routeGo, routeLink, routeReplace, routeWith, type Route } from '../route';
import { scopeHas, session } from '../session';
import { sharePack, shareUnpack } from '../share';
import { useStore } from '../store';
import { Choice, Code, Problem, Section, Shown, Table, Tag } from '../ui';

const SHOWN = 200;

interface Tried extends Compared {
  draft: string;
  idle: boolean; // with nothing in use
}

function Offers({ of, all, machines }: { of: string[]; all: number; machines: boolean }): JSX.Element {
  if (!all) return <span class="quiet">nothing</span>;
  const seen = of.filter((id) => id);
  return <>{seen.slice(0, 4).map((id, i) => <>{i ? ', ' : ''}<a key={id} href={machines ? routeLink(['machines', id]) : adLink(id)}>{id}</a></>)}{all > Math.min(4, seen.length) ? `${seen.length ? ' and ' : ''}${count(all - Math.min(4, seen.length))} ${seen.length ? 'more' : 'of others'}` : ''}</>;
}

function TriedView({ tried }: { tried: Tried }): JSX.Element {
  return (
    <div aria-live="polite">
      <p>{tried.idle ? 'With all machines idle, and what waits now' : 'With what is free and what waits now'}: <strong>{many(tried.now, 'match', 'matches')}</strong> by the present policy, <strong>{many(tried.then, 'match', 'matches')}</strong> by the draft.{' '}
        {tried.changed ? <Tag tone="warn">{many(tried.changed, 'request')} would get something else</Tag> : <Tag tone="good">nothing would change</Tag>}
        {tried.whole ? '' : ' Only the first 100,000 matches of each were compared.'}</p>
      {tried.rows.length ? (
        <Table label="What would change" rows={tried.rows} id={(row) => row.Request} columns={[
          { name: 'Request', cell: (row) => <a href={adLink(row.Request)}>{row.Request}</a> },
          { name: 'Gets now', cell: (row) => <Offers of={row.Now} all={row.NowCount} machines={tried.idle} /> },
          { name: 'Would get', cell: (row) => <Offers of={row.Then} all={row.ThenCount} machines={tried.idle} /> },
        ]} />
      ) : null}
      {tried.changed > tried.rows.length ? <p class="note">{tried.rows.length ? `The first ${count(tried.rows.length)} of them are shown.` : 'You may not see whose they are.'}</p> : null}
    </div>
  );
}

const faultOf = (error: ApiError | undefined): { line: number; column: number; text: string } | null =>
  error?.status === 400 && error.place ? { ...error.place, text: error.detail.replace(/^line \d+, column \d+: /, '') } : null;

/** The draft that an address has, if it is one. */
const draftOf = async (word: string): Promise<string | null> => {
  const found = await shareUnpack(word).catch(() => null);
  return typeof found === 'string' ? found : null;
};

const tries: [string, string][] = [['auto', 'What is free, or all'], ['free', 'What is free'], ['idle', 'All machines, idle']];

export function PolicyView({ query }: { query: Route['query'] }): JSX.Element {
  const who = useStore(session), present = useLoad((signal) => api.policy(signal), 'policy');
  const [draft, setDraft] = useState<string | null>(null), asked = query.get('with') ?? '', idle = asked === 'idle' ? true : asked === 'free' ? false : null; // null: what is free, if anything is
  const word = query.get('draft'), met = useRef<string | null>(null), own = useRef<string | null>(null), quiet = useQuiet(draft, 300); // what the address was seen to have; what was written there
  useTitle('Policy');
  const empty = !!present.value && /^\[\s*\]$/.test(present.value.text);
  const first = (): string => (empty ? '[\n    DockingVector = { self.Rank, label.Rank, -label.Memory }\n]' : adLayOut(present.value?.text ?? ''));
  useEffect(() => {
    if (!present.value) return;
    const known = draft !== null && (word === met.current || word === own.current);
    met.current = word;
    if (known) return;
    own.current = word;
    if (!word) return setDraft(first());
    let gone = false;
    void draftOf(word).then((found) => { if (!gone) setDraft(found ?? first()); });
    return () => { gone = true; };
  }, [present.value, word]);
  useEffect(() => {
    if (quiet === null || quiet !== draft) return;
    let gone = false;
    void (quiet === first() ? Promise.resolve(undefined) : sharePack(quiet)).then((packed) => {
      if (gone || (packed ?? null) === own.current) return;
      own.current = packed ?? null;
      routeReplace(routeWith({ draft: packed }));
    });
    return () => { gone = true; };
  }, [quiet]);
  const trial = useAct(async (): Promise<Tried> => {
    const text = draft ?? '', free = idle === true ? null : await api.policyCompare(text, SHOWN, false);
    if (free && (idle === false || free.now || free.then)) return { draft: text, idle: false, ...free };
    return { draft: text, idle: true, ...(await api.policyCompare(text, SHOWN, true)) }; // nothing is free
  });
  const apply = useAct(async () => {
    const done = await api.policyPut(draft ?? '', present.value?.etag ?? null);
    present.again();
    return done;
  });
  const may = scopeHas(who, 'config'), ready = trial.value?.draft === draft;
  return (
    <>
      <h1>Policy</h1>
      <Section title="What holds">
        <Shown of={present}>{(value) => (empty ? <p class="quiet">No policy: requests are served by their users’ priorities, and get what they and the offers rank highest.</p> : <Code text={adLayOut(value.text)} />)}</Shown>
      </Section>
      <Section title="Draft" note="Try it against the pool as it is now, before it is applied. Trying changes nothing. It looks at requests that wait, and at what is free; where nothing is, at all machines, as if they were idle. Users’ priorities, quotas and limits are left aside.">
        {draft === null ? null : <Editor label="Draft of a policy" rows={10} value={draft} change={(text) => { setDraft(text); apply.clear(); }} fault={faultOf(trial.error) ?? faultOf(apply.error)} enter={() => void trial.run()} />}
        <div class="row">
          <Choice label="Tried with" of={tries} value={idle === null ? 'auto' : idle ? 'idle' : 'free'} pick={(next) => routeGo(routeWith({ with: next === 'auto' ? undefined : next }))} />
          <button type="button" class="main" disabled={trial.busy} onClick={() => void trial.run()}>Try</button>
          <button type="button" disabled={may === false || !ready || apply.busy} onClick={() => void apply.run()}>Apply</button>
          <span class="quiet">{may === false ? 'To apply a policy a token needs the scope config; yours does not have it.' : ready ? '' : 'Try it first; then it can be applied.'}</span>
        </div>
        {faultOf(trial.error) ? null : <Problem error={trial.error} />}
        {faultOf(apply.error) ? null : <Problem error={apply.error} />}
        {apply.value ? <p role="status"><Tag tone="good">applied</Tag> The draft is the policy now.</p> : null}
        {trial.value ? <TriedView tried={trial.value} /> : null}
      </Section>
    </>
  );
}
