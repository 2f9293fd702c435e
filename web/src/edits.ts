// edits.ts: makes the changes that an explanation suggests in the text of an ad.
import { attributeOf, attributesOf, cut, insideOf, itemsOf, splitTop, type Part } from './adtext';
import type { Change, Clause } from './api';

interface Replacement extends Part {
  to: string;
}

const even = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Where the clause stands in an expression: as a member of a conjunction, also in parentheses; else as a piece of text. */
function clauseFind(ad: string, of: Part, clause: string): Part | null {
  if (even(cut(ad, of)) === even(clause)) return of;
  const members = splitTop(ad, of, '&&');
  if (members.length > 1) {
    for (const member of members) {
      const found = clauseFind(ad, member, clause);
      if (found) return found;
    }
    return null;
  }
  const inside = insideOf(ad, of, '(', ')');
  if (inside) return clauseFind(ad, inside, clause);
  const at = ad.indexOf(clause, of.start);
  return at >= 0 && at + clause.length <= of.end ? { start: at, end: at + clause.length } : null;
}

/** The port of that label, also in groups. */
export function portFind(ad: string, label: string, of?: Part): Part | null {
  const ports = attributeOf(ad, 'Ports', of);
  for (const port of ports ? itemsOf(ad, ports.value) : []) {
    const said = attributeOf(ad, 'Label', port);
    if (said && cut(ad, said.value).replace(/^"|"$/g, '').toLowerCase() === label.toLowerCase()) return port;
    const within = portFind(ad, label, port);
    if (within) return within;
  }
  return null;
}

function changeMake(ad: string, change: Change, clauses: Clause[], places: (Part | undefined)[]): Replacement | null {
  if (change.kind === 'attribute') {
    const name = change.attribute ?? '';
    for (const place of places) {
      const there = attributeOf(ad, name, place);
      if (there) return { ...there.value, to: change.to ?? 'undefined' };
    }
    const attributes = attributesOf(ad, places[0]);
    const last = attributes[attributes.length - 1];
    return last ? { start: last.end, end: last.end, to: `; ${name} = ${change.to ?? 'undefined'}` } : null;
  }
  const clause = clauses.find((one) => one.clause === change.clause);
  const to = change.kind === 'drop' ? 'true' : change.to ?? 'true';
  const from = change.from ?? clause?.text ?? '';
  for (const place of places) {
    const there = attributeOf(ad, clause?.attribute ?? 'Constraint', place);
    const found = there && clauseFind(ad, there.value, from);
    if (found) return { ...found, to };
  }
  return null;
}

export interface Edited {
  text: string;
  marks: Part[]; // what is new in it
}

/** Null when a change could not be found in the text. */
export function editMake(ad: string, changes: Change[], clauses: Clause[], port?: string): Edited | null {
  const ported = port !== undefined && attributeOf(ad, 'Ports') !== undefined; // an ad without ports is its own port
  const place = ported ? portFind(ad, port) : null;
  if (ported && !place) return null;
  const places = place ? [place, undefined] : [undefined];
  const replacements: Replacement[] = [];
  for (const change of changes) {
    const made = changeMake(ad, change, clauses, places);
    if (!made) return null;
    replacements.push(made);
  }
  replacements.sort((a, b) => a.start - b.start);
  let text = '', at = 0;
  const marks: Part[] = [];
  for (const { start, end, to } of replacements) {
    text += ad.slice(at, start);
    marks.push({ start: text.length, end: text.length + to.length });
    text += to;
    at = end;
  }
  return { text: text + ad.slice(at), marks };
}
