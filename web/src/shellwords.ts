// shellwords.ts: a command as one types it, taken apart into its words: quotes and backslashes keep words together; nothing is filled in.

export function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = '', begun = false, quote = '';
  for (let at = 0; at < text.length; at++) {
    const c = text[at]!;
    if (quote) {
      if (c === quote) quote = '';
      else if (c === '\\' && quote === '"' && /["\\$`]/.test(text[at + 1] ?? '')) word += text[++at];
      else word += c;
    } else if (c === '"' || c === "'") {
      quote = c;
      begun = true;
    } else if (/\s/.test(c)) {
      if (begun) words.push(word);
      word = '';
      begun = false;
    } else {
      word += c === '\\' && at + 1 < text.length ? text[++at] : c;
      begun = true;
    }
  }
  if (begun) words.push(word);
  return words;
}
