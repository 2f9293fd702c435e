// play.tsx: two ads and an expression, evaluated by the server as one types.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, type Eval } from '../api';
import { Editor, type Fault } from '../editor';
import { askFew } from '../few';
import { useLoad, useQuiet, useTitle } from '../hooks';
import { piecesOf, type Piece } from '../pieces';
import { routeReplace, type Route } from '../route';
import { sharePack, shareUnpack } from '../share';
import { Choice, Problem, Section, Table, Tag } from '../ui';

interface State {
  left: string;
  right: string;
  expression: string;
  dialect: 'classic' | 'condor';
}

const first: State = {
  left: '[\n    Type = "Job";\n    ImageSize = 900M;\n    Constraint = other.Type == "Machine" && other.Memory >= ImageSize;\n    Rank = other.Memory\n]',
  right: '[\n    Type = "Machine";\n    Memory = 16G;\n    Constraint = other.ImageSize <= Memory\n]',
  expression: 'other.Memory / ImageSize',
  dialect: 'classic',
};

const examples: [string, State][] = [
  ['A job and a machine', first],
  ['Why undefined?', { left: '[ Type = "Job"; RequestMemory = 4G ]', right: '[ Type = "Machine"; Memory = 16G ]', expression: 'other.Memory >= RequestMemory && other.Speed > 2', dialect: 'classic' }],
  ['Why error?', { left: '[ Size = "large"; Want = 3 ]', right: '[ ]', expression: 'Want * Size + 1', dialect: 'classic' }],
  ['By the time of day', { left: '[ ]', right: '[ Constraint = dayTime() >= \'20:00:00\' || dayTime() < \'06:00:00\' ]', expression: 'dayTime() >= \'20:00:00\' || dayTime() < \'06:00:00\'', dialect: 'classic' }],
  ['HTCondor', { left: '[ RequestMemory = 2048; Requirements = TARGET.Memory >= MY.RequestMemory ]', right: '[ Memory = 8192; Arch = "X86_64"; Requirements = true ]', expression: 'TARGET.Memory / 1024', dialect: 'condor' }],
];

const STEPS_MOST = 24;

interface Step extends Piece {
  value: string;
}

/** The value of each part, the smallest first; a part whose parts are all well and that is not is where it goes wrong. */
async function stepsAsk(state: State, signal: AbortSignal): Promise<Step[]> {
  const pieces = piecesOf(state.expression).slice(0, STEPS_MOST);
  return askFew(pieces, async (piece) => ({ ...piece, value: (await api.evaluate(state.left, state.right, piece.text, state.dialect, signal)).Value ?? '' }));
}

const bad = (value: string): boolean => value === 'undefined' || value === 'error';
/** It is the first of its kind: none of the parts that it is made of is so. */
const begins = (step: Step, steps: Step[]): boolean => bad(step.value) && !steps.some((other) => other !== step && other.start >= step.start && other.end <= step.end && bad(other.value));

function why(step: Step, state: State): string {
  const name = /^(?:(other|target|my|self)\s*\.\s*)?([A-Za-z_]\w*)$/i.exec(step.text);
  if (name && step.value === 'undefined') return /^(other|target)$/i.test(name[1] ?? '') ? `the right ad has no ${name[2]}` : name[1] || state.dialect === 'classic' ? `the left ad has no ${name[2]}` : `neither ad has ${name[2]}`;
  return step.value === 'error' ? 'its parts are not of a type that this takes' : 'a part of it is not known';
}

function Steps({ state }: { state: State }): JSX.Element | null {
  const found = useLoad((signal) => stepsAsk(state, signal), JSON.stringify(state));
  const steps = found.value ?? [];
  if (found.error) return <Section title="Step by step"><Problem error={found.error} /></Section>;
  if (steps.length < 2 && !steps.some((step) => bad(step.value))) return null;
  return (
    <Section title="Step by step" note="Each part of the expression by itself, the smallest first.">
      <Table label="Steps" rows={steps} id={(step) => `${step.start} ${step.end}`} columns={[
        { name: 'Part', cell: (step: Step) => <code>{step.text}</code> },
        { name: 'Value', cell: (step) => <><code>{step.value}</code>{begins(step, steps) ? <> <Tag tone={step.value === 'error' ? 'bad' : 'warn'}>here it begins</Tag> <span class="quiet">{why(step, state)}</span></> : null}</> },
      ]} />
    </Section>
  );
}

/** From an address, that is from anybody. */
function stateCheck(found: unknown): State {
  const of = (typeof found === 'object' && found ? found : {}) as Record<string, unknown>;
  const text = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);
  return { left: text(of.left, ''), right: text(of.right, ''), expression: text(of.expression, ''), dialect: of.dialect === 'condor' ? 'condor' : 'classic' };
}

const fault = (said: Eval | undefined, part: 'Left' | 'Right' | 'Expression'): Fault | null => {
  const text = said?.[`${part}Error`];
  return text ? { text, line: said?.[`${part}Line`] ?? 1, column: said?.[`${part}Column`] ?? 1 } : null;
};

function Outcome({ said }: { said: Eval }): JSX.Element {
  return (
    <dl class="facts outcome">
      <div><dt>Value</dt><dd>{said.Value !== undefined ? <><code class="value">{said.Value}</code> {said.Type === said.Value ? null : <span class="quiet">{said.Type}</span>}</> : <span class="quiet">nothing to evaluate</span>}</dd></div>
      {said.Matches !== undefined ? (
        <>
          <div><dt>The two ads</dt><dd><Tag tone={said.Matches ? 'good' : undefined}>{said.Matches ? 'match' : 'do not match'}</Tag></dd></div>
          <div><dt>Constraint, left and right</dt><dd><code>{said.LeftConstraint}</code> and <code>{said.RightConstraint}</code></dd></div>
          <div><dt>Rank, left and right</dt><dd><code>{said.LeftRank}</code> and <code>{said.RightRank}</code></dd></div>
        </>
      ) : null}
    </dl>
  );
}

export function PlayView({ query }: { query: Route['query'] }): JSX.Element {
  const [state, setState] = useState<State | null>(query.get('s') ? null : first), [copied, setCopied] = useState('');
  const word = query.get('s');
  useTitle('Playground');
  useEffect(() => {
    if (word) shareUnpack(word).then((found) => setState(stateCheck(found)), () => setState(first));
  }, [word]);
  const now = state ?? first, quiet = useQuiet(now, 200);
  const said = useLoad((signal) => api.evaluate(quiet.left, quiet.right, quiet.expression, quiet.dialect, signal), state && JSON.stringify(quiet));
  const [last, setLast] = useState<Eval>();
  useEffect(() => {
    if (said.value) setLast(said.value);
  }, [said.value]);
  useEffect(() => {
    setCopied('');
    if (state && quiet !== first) void sharePack(quiet).then((packed) => routeReplace(`#/play?s=${packed}`));
  }, [quiet]);
  if (!state) return <p class="quiet">Loading …</p>;
  const set = (part: Partial<State>): void => setState({ ...state, ...part });
  const copy = async (): Promise<void> => {
    const link = `${location.origin}${location.pathname}#/play?s=${await sharePack(state)}`;
    history.replaceState(null, '', link);
    await navigator.clipboard.writeText(link).then(() => setCopied('Copied.'), () => setCopied('The address of this page is the link.'));
  };
  return (
    <>
      <h1>Playground</h1>
      <div class="row">
        <Choice label="Dialect" of={[['classic', 'Classic'], ['condor', 'Condor']]} value={state.dialect} pick={(dialect) => set({ dialect })} />
        <button type="button" onClick={() => void copy()}>Copy a link to this</button>
        <span role="status" class="quiet">{copied}</span>
        <label>Example{' '}
          <select value="" onChange={(event) => { const of = examples.find(([name]) => name === event.currentTarget.value); if (of) setState(of[1]); event.currentTarget.value = ''; }}>
            <option value="">choose one</option>
            {examples.map(([name]) => <option key={name} value={name}>{name}</option>)}
          </select>
        </label>
      </div>
      <div class="columns">
        <Section title="Left ad"><Editor label="Left ad" rows={9} value={state.left} change={(left) => set({ left })} fault={fault(last, 'Left')} /></Section>
        <Section title="Right ad"><Editor label="Right ad" rows={9} value={state.right} change={(right) => set({ right })} fault={fault(last, 'Right')} /></Section>
      </div>
      <Section title="Expression" note={<>In the left ad; the right one is <code>other</code>. The server evaluates it, with its budgets; nothing of the pool takes part.</>}>
        <Editor label="Expression" single value={state.expression} change={(expression) => set({ expression })} fault={fault(last, 'Expression')} />
      </Section>
      <Section title="Outcome">
        <Problem error={said.error} />
        {last && !said.error ? <Outcome said={last} /> : null}
      </Section>
      {last?.Value !== undefined && !said.error && !last.ExpressionError ? <Steps state={quiet} /> : null}
    </>
  );
}
