// editor_view.ts: the second part of CodeMirror, after editor_state.ts.
export { EditorView } from '@codemirror/view';
