// editor_core.ts: CodeMirror as the page uses it; loaded when the first editor is shown.
import { autocompletion, closeBrackets, closeBracketsKeymap, type Completion, completionKeymap, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { bracketMatching, HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { setDiagnostics } from '@codemirror/lint';
import { Annotation, EditorState, type Extension, Prec, StateEffect } from '@codemirror/state';
import { drawSelection, EditorView, keymap, lineNumbers } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { api, type Func } from './api';
import { count } from './format';
import { classad } from './editor_language';

export interface Fault {
  line: number; // from 1
  column: number;
  text: string;
}

export interface EditorOptions {
  label: string;
  value: string;
  single: boolean;
  change: (value: string) => void;
  enter: () => void;
  kind: () => string | undefined;
}

export interface EditorHandle {
  show: (value: string) => void;
  fault: (fault: Fault | null) => void;
  close: () => void;
}

const fromOutside = Annotation.define<boolean>();

const colours = HighlightStyle.define([
  { tag: tags.string, color: 'var(--text-string)' },
  { tag: tags.number, color: 'var(--text-number)' },
  { tag: tags.keyword, color: 'var(--text-keyword)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--quiet)', fontStyle: 'italic' },
  { tag: tags.definition(tags.variableName), color: 'var(--text-name)' },
  { tag: tags.function(tags.variableName), color: 'var(--text-keyword)' },
]);

const look = EditorView.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--field)', fontSize: '14px', borderRadius: '6px', minHeight: 'var(--least)' },
  '&.cm-focused': { outline: '2px solid var(--focus)', outlineOffset: '1px' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--ink)', padding: '6px 0', minHeight: 'var(--least)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'transparent', color: 'var(--quiet)', border: 'none' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { backgroundColor: 'var(--selection)' },
  '.cm-matchingBracket': { backgroundColor: 'var(--selection)' },
  '.cm-tooltip': { backgroundColor: 'var(--panel)', color: 'var(--ink)', border: '1px solid var(--line)', borderRadius: '6px' },
  '.cm-tooltip-autocomplete > ul > li': { fontFamily: 'var(--mono)', padding: '4px 10px' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '.cm-completionDetail': { fontStyle: 'normal', opacity: '0.8' },
  '.cm-completionInfo': { padding: '4px 10px', maxWidth: '22rem' },
  '.cm-diagnostic': { borderLeftColor: 'var(--bad)' },
});

const MOST = 40;

let functions: Promise<Func[]> | undefined;

/** Functions that begin so, each with its line of the manual. One that cannot be asked for has none. */
async function functionsOf(prefix: string): Promise<Completion[]> {
  const all = await (functions ??= api.functions().catch(() => []));
  return all.filter(({ Name }, i) => Name.toLowerCase().startsWith(prefix.toLowerCase()) && all.findIndex((other) => other.Name === Name) === i)
    .map(({ Name, Arguments, Help }) => ({ label: `${Name}()`, displayLabel: Name, apply: `${Name}(`, detail: `(${Arguments})`, info: Help, boost: -50 }));
}

/** Names of attributes that ads of the pool have, and functions. */
async function complete(context: CompletionContext, kind: () => string | undefined): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[A-Za-z_][A-Za-z0-9_]*/);
  if ((!word && !context.explicit) || context.matchBefore(/"[^"]*/)) return null;
  const abort = new AbortController();
  context.addEventListener('abort', () => abort.abort());
  try {
    const [names, called] = await Promise.all([api.names(word?.text ?? '', kind(), MOST, abort.signal), functionsOf(word?.text ?? '')]);
    if (!names.length && !called.length) return null;
    return {
      validFor: names.length < MOST ? /^\w*$/ : undefined, // all of them are here: no need to ask again
      from: word?.from ?? context.pos,
      options: [...names.map(({ Name, Ads }, place): Completion => ({ label: Name, detail: `${count(Ads)} ads`, boost: Math.max(-40, 50 - place) })), ...called],
    };
  } catch {
    return null;
  }
}

function faultPlace(state: EditorState, fault: Fault): { from: number; to: number } {
  const line = state.doc.line(Math.max(1, Math.min(fault.line, state.doc.lines)));
  const at = Math.min(line.from + Math.max(0, fault.column - 1), line.to);
  const rest = /^(\w+|\S)/.exec(line.text.slice(at - line.from))?.[0].length ?? 0;
  if (rest) return { from: at, to: at + rest };
  const last = line.text.trimEnd().length; // behind the end: what stands last is marked
  return { from: line.from + Math.max(0, last - 1), to: Math.max(line.from + last, at) };
}

/** What is typed over a selection is put there by us: the browser would do it with styles of its own, which the page's policy refuses aloud. */
const typedOver = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const { main } = view.state.selection, text = event.data;
    if (event.inputType !== 'insertText' || !text || main.empty || view.composing) return false;
    event.preventDefault();
    const insert = () => view.state.update({ ...view.state.replaceSelection(text), userEvent: 'input.type', scrollIntoView: true });
    if (!view.state.facet(EditorView.inputHandler).some((handles) => handles(view, main.from, main.to, text, insert))) view.dispatch(insert());
    return true;
  },
});

/** Made in steps, for the first editor of all takes the browser a while: what it shows, then what it does, one thing after the other, and last it is put into its place. */
export function* editorSteps(root: ShadowRoot, options: EditorOptions): Generator<void, EditorHandle> {
  const run = (): boolean => {
    options.enter();
    return true;
  };
  const state = EditorState.create({
    doc: options.value,
    extensions: [
      options.single ? EditorState.transactionFilter.of((change) => (change.newDoc.lines > 1 ? [] : change)) : EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': options.label }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !update.transactions.some((one) => one.annotation(fromOutside))) options.change(update.state.doc.toString());
      }),
      look,
    ],
  });
  yield;
  const view = new EditorView({ root, state });
  const parts: (() => Extension)[] = [
    () => (options.single ? [] : lineNumbers()),
    () => [history(), drawSelection()],
    () => [bracketMatching(), closeBrackets(), indentUnit.of('    ')],
    () => [classad, syntaxHighlighting(colours)],
    () => [typedOver, autocompletion({ override: [(context) => complete(context, options.kind)], icons: false })],
    () => [
      keymap.of([...closeBracketsKeymap, ...completionKeymap]),
      Prec.low(keymap.of(options.single ? [{ key: 'Enter', run }] : [])),
      Prec.high(keymap.of([{ key: 'Mod-Enter', run }])),
      keymap.of([...defaultKeymap.filter(({ key }) => !options.single || key !== 'Enter'), ...historyKeymap]),
    ],
  ];
  for (const part of parts) {
    yield;
    view.dispatch({ effects: StateEffect.appendConfig.of(part()) });
  }
  yield;
  root.append(view.dom);
  return {
    show(value) {
      if (value !== view.state.doc.toString()) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: value }, annotations: fromOutside.of(true) });
    },
    fault(fault) {
      const marks = fault && view.state.doc.length ? [{ ...faultPlace(view.state, fault), severity: 'error' as const, message: fault.text }] : [];
      view.dispatch(setDiagnostics(view.state, marks));
    },
    close() {
      view.destroy();
    },
  };
}
