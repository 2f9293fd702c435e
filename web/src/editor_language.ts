// editor_language.ts: enough of the language for colours.
import { StreamLanguage, type StringStream } from '@codemirror/language';

const words = /^(true|false|undefined|error|is|isnt|self|other|my|target|parent|if|then|else)$/i;

function token(stream: StringStream, state: { comment: boolean }): string | null {
  if (state.comment) {
    state.comment = !stream.match(/^.*?\*\//) && (stream.skipToEnd(), true);
    return 'comment';
  }
  if (stream.eatSpace()) return null;
  if (stream.match('//')) {
    stream.skipToEnd();
    return 'comment';
  }
  if (stream.match('/*')) {
    state.comment = true;
    return 'comment';
  }
  if (stream.match(/^"(?:[^"\\]|\\.)*"?/) || stream.match(/^'(?:[^'\\]|\\.)*'?/)) return 'string';
  if (stream.match(/^(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?[BKMGT]?\b/)) return 'number';
  const word = stream.match(/^[A-Za-z_][A-Za-z0-9_]*/);
  if (word && word !== true) {
    if (words.test(word[0])) return 'keyword';
    if (stream.match(/^\s*\(/, false)) return 'variableName.function';
    return stream.match(/^\s*=(?![=?!])/, false) ? 'variableName.definition' : 'variableName';
  }
  stream.next();
  return null;
}

export const classad = StreamLanguage.define<{ comment: boolean }>({
  name: 'classad',
  startState: () => ({ comment: false }),
  token,
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } }, closeBrackets: { brackets: ['(', '[', '{', '"'] } },
});
