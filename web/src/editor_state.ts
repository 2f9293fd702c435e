// editor_state.ts: the first part of CodeMirror, which is fetched and run in parts: all at once would take a frame for itself.
export { EditorState } from '@codemirror/state';
