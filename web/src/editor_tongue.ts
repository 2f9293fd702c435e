// editor_tongue.ts: the third part of CodeMirror, after editor_view.ts: what it has for languages.
export { classad } from './editor_language';
