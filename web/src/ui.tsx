// ui.tsx: the small pieces that all views are made of.
import { Fragment, isValidElement, type ComponentChildren, type JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ApiError } from './api';
import { ago, moment } from './format';
import { type Loaded, useSliced, useTick, useTurn } from './hooks';
import { route, routeGo, routeWith } from './route';
import { useStore } from './store';

const titles: Record<number, string> = { 0: 'No answer', 400: 'That cannot be read', 403: 'Not allowed', 404: 'Not there', 409: 'Something newer is known', 412: 'It has changed meanwhile', 413: 'Too large', 429: 'Too much at once', 503: 'Not now' };

export function Problem({ error }: { error?: ApiError }): JSX.Element | null {
  if (!error) return null;
  return (
    <div class="problem" role="alert">
      <strong>{titles[error.status] ?? error.title}:</strong> {error.detail}
    </div>
  );
}

/** What is loaded, or why it is not. */
export function Shown<T>({ of, children }: { of: Loaded<T>; children: (value: T) => ComponentChildren }): JSX.Element {
  return (
    <>
      <Problem error={of.error} />
      {of.value !== undefined ? children(of.value) : of.busy && !of.error ? <p class="quiet">Loading …</p> : null}
    </>
  );
}

/** What comes in its turn, and not with all else of a view. */
export function Later({ children }: { children: ComponentChildren }): JSX.Element {
  return <>{useTurn() ? children : null}</>;
}

/** A part of a view, with its heading. */
export function Section({ title, note, children, side }: { title: string; note?: ComponentChildren; children: ComponentChildren; side?: ComponentChildren }): JSX.Element {
  return (
    <section>
      <div class="heading">
        <h2>{title}</h2>
        {side}
      </div>
      {note ? <p class="note">{note}</p> : null}
      <Later>{children}</Later>
    </section>
  );
}

export type Tone = 'good' | 'bad' | 'warn' | 'now';

export interface Column<T> {
  name: string;
  sort?: (row: T) => number | string; // the table can be sorted by it
  cell: (row: T) => ComponentChildren;
  number?: boolean;
}

/** Whoever has no mouse must be able to scroll what is wider than its box; else it is no stop of the Tab key. It is looked at when the browser has laid it out. */
function useScrollStop(there: boolean): { current: HTMLDivElement | null } {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const of = box.current;
    if (!of) return;
    const fit = new ResizeObserver(() => {
      if (of.scrollWidth > of.clientWidth + 1) of.tabIndex = 0;
      else of.removeAttribute('tabindex');
    });
    fit.observe(of);
    if (of.firstElementChild) fit.observe(of.firstElementChild);
    return () => fit.disconnect();
  }, [there]);
  return box;
}

export interface Sorting {
  by: string; // the name of a column, with - in front: the largest first; empty: as they came
  pick: (by: string) => void;
  done?: boolean; // they have come in that order
}

function sorted<T>(rows: T[], columns: Column<T>[], by: string): T[] {
  const name = by.replace(/^-/, ''), sort = columns.find((column) => column.name === name)?.sort, way = by.startsWith('-') ? -1 : 1;
  if (!sort) return rows;
  const keys = new Map(rows.map((row) => [row, sort(row)]));
  return [...rows].sort((a, b) => { const x = keys.get(a)!, y = keys.get(b)!; return (x < y ? -1 : x > y ? 1 : 0) * way; });
}

function Head<T>({ column, sorting }: { column: Column<T>; sorting?: Sorting }): JSX.Element {
  const by = sorting?.by ?? '', up = by === column.name, down = by === `-${column.name}`;
  const shown = column.sort && sorting ? <button type="button" class="sort" onClick={() => sorting.pick(up ? `-${column.name}` : down ? '' : column.name)}>{column.name}{up ? ' ↑' : down ? ' ↓' : ''}</button> : column.name;
  return <th scope="col" class={column.number ? 'number' : ''} aria-sort={up ? 'ascending' : down ? 'descending' : undefined}>{shown}</th>;
}

const CELLS_AT_ONCE = 24; // in one frame

const ROWS_MOST = 50; // more are on further pages

/** What a cell begins with: the name of an element. */
function beginsWith(cell: ComponentChildren): unknown {
  if (!isValidElement(cell)) return undefined;
  if (cell.type !== Fragment) return cell.type;
  const within = (cell.props as { children?: ComponentChildren }).children;
  return beginsWith(Array.isArray(within) ? within[0] : within);
}

function Cell<T>({ column, row, first }: { column: Column<T>; row: T; first: boolean }): JSX.Element {
  const cell = column.cell(row), begins = beginsWith(cell);
  return <td class={column.number ? 'number' : begins === 'code' ? 'coded' : first && begins === 'a' ? 'named' : ''} data-name={column.name}>{cell}</td>;
}

/** Where it is too narrow for a table, each row is a card: no column is lost. `empty`: what this is for, and the first step. `state`: what the cells depend on beside their rows; where
 * it is given, a row that stays as it was is not drawn again. */
export function Table<T>({ label, columns, rows, id, empty, sorting, state, most = ROWS_MOST }: { label: string; columns: Column<T>[]; rows: T[]; id: (row: T) => string; empty?: ComponentChildren; sorting?: Sorting; state?: unknown; most?: number }): JSX.Element {
  const box = useScrollStop(rows.length > 0), [asked, setPage] = useState(0), page = Math.min(asked, Math.max(0, Math.ceil(rows.length / most) - 1)), by = sorting?.by ?? '';
  const all = useMemo(() => (sorting?.done ? rows : sorted(rows, columns, by)), [rows, by]).slice(page * most, (page + 1) * most), keyOf = (row: T): string => `${by} ${id(row)}`; // another order is drawn anew: to move all rows would take a frame for itself
  const { drawn, whole } = useSliced(all.map((row) => ({
    key: keyOf(row), of: row, also: state ?? columns,
    draw: () => <tr key={keyOf(row)}>{columns.map((column, i) => Cell({ column, row, first: !i }))}</tr>,
  })), Math.max(2, Math.floor(CELLS_AT_ONCE / columns.length)));
  if (!rows.length) return <div class="empty">{empty ?? 'Nothing.'}</div>;
  return (
    <>
      <div ref={box} class="wide" role="region" aria-label={label} aria-busy={!whole}>
        <table>
          <thead>
            <tr>{columns.map((column) => <Head key={column.name} column={column} sorting={sorting} />)}</tr>
          </thead>
          <tbody>{drawn}</tbody>
        </table>
      </div>
      <Pager paging={{ page, next: () => setPage(page + 1), back: () => setPage(page - 1) }} cursor={rows.length > (page + 1) * most ? 'more' : null} />
    </>
  );
}

export interface Paging {
  cursor?: string;
  page: number;
  next: (cursor: string) => void;
  back: () => void;
}

/* The cursors of the pages of a list that were seen in this tab: they lead back. */
const seen = new Map<string, (string | undefined)[]>();
const SEEN_MOST = 50; // lists

function seenOf(list: string): (string | undefined)[] {
  const cursors = seen.get(list) ?? [];
  seen.delete(list);
  seen.set(list, cursors);
  for (const old of seen.keys()) if (seen.size > SEEN_MOST) seen.delete(old);
  return cursors;
}

/** Where one is in a list that is asked for a page at a time. The address has it, by that word, as `2:CURSOR`: the page, from 0, and what it begins behind. Another `list` begins with its first
 * page: links to it leave the word out. */
export function usePaging(list: string, word = 'page'): Paging {
  const [, number, cursor] = /^(\d{1,7}):(.+)$/s.exec(useStore(route).query.get(word) ?? '') ?? [], page = Number(number ?? 0), cursors = seenOf(`${word} ${list}`);
  cursors[page] = cursor;
  const go = (to: number, from: string | undefined): void => routeGo(routeWith({ [word]: from === undefined ? undefined : `${to}:${from}` }));
  return { cursor, page, next: (behind) => go(page + 1, behind), back: () => go(page - 1, cursors[page - 1]) };
}

export function Pager({ paging, cursor }: { paging: Paging; cursor: string | null }): JSX.Element | null {
  if (!paging.page && !cursor) return null;
  return (
    <nav class="pager" aria-label="Pages">
      <button type="button" disabled={!paging.page} onClick={paging.back}>Back</button>
      <span>Page {paging.page + 1}</span>
      <button type="button" disabled={!cursor} onClick={() => cursor && paging.next(cursor)}>Next</button>
    </nav>
  );
}

export function Figure({ name, value, note, href, tone, part }: { name: string; value: ComponentChildren; note?: ComponentChildren; href?: string; tone?: Tone; part?: number }): JSX.Element {
  return (
    <div class={`figure ${tone ?? ''}`}>
      <dt>{href ? <a href={href}>{name}</a> : name}</dt>
      <dd>{value}{part === undefined ? null : <Bar part={part} />}{note ? <small>{note}</small> : null}</dd>
    </div>
  );
}

/** How much of a whole: for the eye; the number is beside it. */
export function Bar({ part, tone }: { part: number; tone?: string }): JSX.Element {
  return <span class={`bar ${tone ?? ''}`} aria-hidden="true"><span style={{ width: `${Math.max(0, Math.min(1, part || 0)) * 100}%` }} /></span>;
}

/** Red is a fault, amber waits for somebody, grey waits its turn, green is success; blue is under way. */
export function Tag({ tone, children }: { tone?: Tone; children: ComponentChildren }): JSX.Element {
  return <span class={`tag ${tone ?? ''}`}>{children}</span>;
}

export function Choice<T extends string>({ label, of, value, pick }: { label: string; of: [T, string][]; value: T; pick: (value: T) => void }): JSX.Element {
  return (
    <div class="choice" role="group" aria-label={label}>
      {of.map(([word, text]) => (
        <button key={word} type="button" aria-pressed={word === value} onClick={() => pick(word)}>{text}</button>
      ))}
    </div>
  );
}

/** A moment, as people say it; exactly where one points. */
export function When({ at }: { at: number }): JSX.Element {
  useTick();
  return <time class="moment" dateTime={new Date(at * 1000).toISOString()} title={moment(at)}>{ago(at)}</time>;
}

export function Copy({ text, what }: { text: string; what: string }): JSX.Element {
  const [told, setTold] = useState('');
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setTold('Copied'), () => setTold('Not copied')).then(() => setTimeout(() => setTold(''), 1500));
  return <button type="button" class="copy" onClick={copy} aria-label={`Copy ${what}`} title={`Copy ${what}`}>{told || 'Copy'}</button>;
}

/** One bar of several parts. */
export function Parts({ of, label }: { of: { part: number; tone: string }[]; label: string }): JSX.Element {
  return <span class="parts" role="img" aria-label={label} title={label}>{of.filter(({ part }) => part > 0).map(({ part, tone }, i) => <span key={`${tone}${i}`} class={tone} style={{ flexGrow: part }} />)}</span>;
}

export function Code({ text, marks = [] }: { text: string; marks?: { start: number; end: number }[] }): JSX.Element {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const { start, end } of marks) {
    pieces.push(text.slice(at, start), <mark key={start}>{text.slice(start, end)}</mark>);
    at = end;
  }
  pieces.push(text.slice(at));
  return <pre class="code" tabIndex={0}><code>{pieces}</code></pre>;
}
