// policy.tsx: the administrative policy: what holds, what another would change, and applying it.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { adLayOut } from '../adtext';
import { api, type ApiError, type Given } from '../api';
import { Editor } from '../editor';
import { count, many } from '../format';
import { useAct, useLoad, useTitle } from '../hooks';
import { adLink } from '../route';
import { scopeHas, session } from '../session';
import { useStore } from '../store';
import { Code, Problem, Section, Shown, Table, Tag } from '../ui';

const MOST = 1000, SHOWN = 200;

interface Difference {
  request: string;
  now: string[];
  then: string[];
}

function byRequest(rows: Given[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { Request, Offer } of rows) found.set(Request, [...(found.get(Request) ?? []), Offer]);
  return found;
}

function differences(now: Given[], then: Given[]): Difference[] {
  const before = byRequest(now), after = byRequest(then);
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((request) => ({ request, now: [...(before.get(request) ?? [])].sort(), then: [...(after.get(request) ?? [])].sort() }))
    .filter(({ now: a, then: b }) => a.join('\n') !== b.join('\n'));
}

interface Tried {
  draft: string;
  now: { rows: Given[]; total: number };
  then: { rows: Given[]; total: number };
}

function Offers({ of }: { of: string[] }): JSX.Element {
  if (!of.length) return <span class="quiet">nothing</span>;
  return <>{of.slice(0, 4).map((id, i) => <>{i ? ', ' : ''}<a key={id} href={adLink(id)}>{id}</a></>)}{of.length > 4 ? ` and ${count(of.length - 4)} more` : ''}</>;
}

function TriedView({ tried }: { tried: Tried }): JSX.Element {
  const rows = differences(tried.now.rows, tried.then.rows);
  const cut = tried.now.total > tried.now.rows.length || tried.then.total > tried.then.rows.length;
  return (
    <div aria-live="polite">
      <p>With the ads that are there now: <strong>{many(tried.now.total, 'match', 'matches')}</strong> by the present policy, <strong>{many(tried.then.total, 'match', 'matches')}</strong> by the draft.{' '}
        {rows.length ? <><Tag tone="warn">{many(rows.length, 'request')} would get something else</Tag></> : <Tag tone="good">nothing would change</Tag>}
        {cut ? ` Only the first ${count(MOST)} matches of each were compared.` : ''}</p>
      {rows.length ? (
        <Table label="What would change" rows={rows.slice(0, SHOWN)} id={(row) => row.request} columns={[
          { name: 'Request', cell: (row) => <a href={adLink(row.request)}>{row.request}</a> },
          { name: 'Gets now', cell: (row) => <Offers of={row.now} /> },
          { name: 'Would get', cell: (row) => <Offers of={row.then} /> },
        ]} />
      ) : null}
    </div>
  );
}

const faultOf = (error: ApiError | undefined): { line: number; column: number; text: string } | null =>
  error?.status === 400 && error.place ? { ...error.place, text: error.detail.replace(/^line \d+, column \d+: /, '') } : null;

export function PolicyView(): JSX.Element {
  const who = useStore(session), present = useLoad((signal) => api.policy(signal), 'policy');
  const [draft, setDraft] = useState<string | null>(null);
  useTitle('Policy');
  const empty = !!present.value && /^\[\s*\]$/.test(present.value.text);
  useEffect(() => {
    if (draft === null && present.value) setDraft(empty ? '[\n    DockingVector = { self.Rank, label.Rank, -label.Memory }\n]' : adLayOut(present.value.text));
  }, [present.value]);
  const trial = useAct(async (): Promise<Tried> => {
    const text = draft ?? '';
    const then = await api.policyTry(text, MOST);
    return { draft: text, then, now: await api.policyTry(present.value?.text ?? '[]', MOST) };
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
      <Section title="Draft" note="Try it against the pool as it is now, before it is applied. Trying changes nothing.">
        {draft === null ? null : <Editor label="Draft of a policy" rows={10} value={draft} change={(text) => { setDraft(text); apply.clear(); }} fault={faultOf(trial.error) ?? faultOf(apply.error)} enter={() => void trial.run()} />}
        <div class="row">
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
