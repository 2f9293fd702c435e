// play.tsx: two ads and an expression, evaluated by the server as one types.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, type Eval } from '../api';
import { Editor, type Fault } from '../editor';
import { useLoad, useQuiet, useTitle } from '../hooks';
import { routeReplace, type Route } from '../route';
import { sharePack, shareUnpack } from '../share';
import { Choice, Problem, Section, Tag } from '../ui';

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
          <div><dt>The two ads</dt><dd><Tag tone={said.Matches ? 'good' : 'bad'}>{said.Matches ? 'match' : 'do not match'}</Tag></dd></div>
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
    </>
  );
}
