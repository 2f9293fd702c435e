// adtext.ts: the text of ads, taken apart without understanding it: attributes, items of lists, clauses; and laid out in lines.

export interface Part {
  start: number;
  end: number;
}

export interface Attribute extends Part {
  name: string;
  value: Part;
}

/** Where the string, time or comment that begins at `at` ends; `at` itself when none does. */
function quotedEnd(text: string, at: number): number {
  const first = text[at];
  if (first === '"' || first === "'") {
    let end = at + 1;
    while (end < text.length && text[end] !== first) end += text[end] === '\\' ? 2 : 1;
    return Math.min(end + 1, text.length);
  }
  if (first === '/' && text[at + 1] === '/') {
    const end = text.indexOf('\n', at);
    return end < 0 ? text.length : end;
  }
  if (first === '/' && text[at + 1] === '*') {
    const end = text.indexOf('*/', at + 2);
    return end < 0 ? text.length : end + 2;
  }
  return at;
}

export function trimmed(text: string, part: Part): Part {
  let { start, end } = part;
  for (;;) {
    while (start < end && /\s/.test(text[start]!)) start++;
    const after = text[start] === '/' ? quotedEnd(text, start) : start;
    if (after === start || start >= end) break;
    start = after;
  }
  while (end > start && /\s/.test(text[end - 1]!)) end--;
  return { start, end };
}

/** The parts of a text between separators that are in no bracket and no string. */
export function splitTop(text: string, of: Part, separator: string): Part[] {
  const parts: Part[] = [];
  let depth = 0, from = of.start, at = of.start;
  while (at < of.end) {
    const after = quotedEnd(text, at);
    if (after > at) {
      at = after;
      continue;
    }
    const c = text[at]!;
    if ('[{('.includes(c)) depth++;
    else if (']})'.includes(c)) depth--;
    else if (depth === 0 && text.startsWith(separator, at)) {
      parts.push(trimmed(text, { start: from, end: at }));
      at += separator.length;
      from = at;
      continue;
    }
    at++;
  }
  parts.push(trimmed(text, { start: from, end: of.end }));
  return parts.filter((part) => part.end > part.start);
}

const all = (text: string): Part => trimmed(text, { start: 0, end: text.length });

/** The inside of a text that is one pair of brackets and what is in them; else null. */
export function insideOf(text: string, of: Part, open: string, close: string): Part | null {
  const part = trimmed(text, of);
  if (text[part.start] !== open || text[part.end - 1] !== close) return null;
  let depth = 0;
  for (let at = part.start; at < part.end; ) {
    const after = quotedEnd(text, at);
    if (after > at) {
      at = after;
      continue;
    }
    if ('[{('.includes(text[at]!)) depth++;
    else if (']})'.includes(text[at]!) && --depth === 0 && at < part.end - 1) return null;
    at++;
  }
  return { start: part.start + 1, end: part.end - 1 };
}

export function attributesOf(text: string, of: Part = all(text)): Attribute[] {
  const inside = insideOf(text, of, '[', ']');
  if (!inside) return [];
  return splitTop(text, inside, ';').flatMap((part) => {
    const equals = text.indexOf('=', part.start);
    if (equals < 0 || equals >= part.end) return [];
    return [{ ...part, name: text.slice(part.start, equals).trim(), value: trimmed(text, { start: equals + 1, end: part.end }) }];
  });
}

export const attributeOf = (text: string, name: string, of?: Part): Attribute | undefined =>
  attributesOf(text, of).find((attribute) => attribute.name.toLowerCase() === name.toLowerCase());

/** The ads of a text, one after another. */
export function adsOf(text: string): Part[] {
  const ads: Part[] = [];
  let depth = 0, start = 0;
  for (let at = 0; at < text.length; ) {
    const after = quotedEnd(text, at);
    if (after > at) {
      at = after;
      continue;
    }
    if ('[{('.includes(text[at]!) && depth++ === 0) start = at;
    else if (']})'.includes(text[at]!) && depth > 0 && --depth === 0) ads.push({ start, end: at + 1 });
    at++;
  }
  return ads;
}

export const itemsOf = (text: string, of: Part): Part[] => {
  const inside = insideOf(text, of, '{', '}');
  return inside ? splitTop(text, inside, ',') : [];
};

export const cut = (text: string, part: Part): string => text.slice(part.start, part.end);

/* ------------------------------------------------------------------------------------------------------------- layout */

const WIDTH = 84;

function laid(text: string, of: Part, indent: number, used: number): string {
  const plain = cut(text, of);
  const inner = ' '.repeat(indent + 4), outer = ' '.repeat(indent);
  if (plain.length + used <= WIDTH && !plain.includes('\n')) return plain;
  const attributes = attributesOf(text, of);
  if (attributes.length) {
    const rows = attributes.map(({ name, value }) => `${inner}${name} = ${laid(text, value, indent + 4, indent + name.length + 7)};`);
    return `[\n${rows.join('\n')}\n${outer}]`;
  }
  const items = itemsOf(text, of);
  if (items.length) return `{\n${items.map((item) => inner + laid(text, item, indent + 4, indent + 4)).join(',\n')}\n${outer}}`;
  for (const sign of ['||', '&&']) {
    const clauses = splitTop(text, of, sign);
    if (clauses.length > 1) return clauses.map((clause) => laid(text, clause, indent + 4, indent + 7)).join(`\n${inner}${sign} `);
  }
  return plain;
}

/** An ad with an attribute a line. */
export function adLayOut(text: string): string {
  const whole = all(text), attributes = attributesOf(text, whole);
  if (!attributes.length) return cut(text, whole);
  return `[\n${attributes.map(({ name, value }) => `    ${name} = ${laid(text, value, 4, name.length + 7)};`).join('\n')}\n]`;
}
