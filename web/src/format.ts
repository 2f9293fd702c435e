// format.ts: numbers, spans, times and values as people read them.
import type { Value } from './api';

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
const parts = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 });
const precise = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 4 });

export const count = (n: number): string => whole.format(n);
export const real = (n: number): string => (n > 0 && n < 0.01 ? '< 0.01' : parts.format(n));
export const percent = (n: number): string => `${parts.format(Math.round(n * 1000) / 10)} %`;

export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;

/** A span that stands alone, in a column or a field: 12s, 3m12s, 5h03m, 4d07h. */
export function span(seconds: number): string {
  const n = Math.max(0, Math.floor(seconds)) || 0;
  const pair = (large: number, small: number, names: string) => `${Math.floor(n / large)}${names[0]}${two(Math.floor((n % large) / small))}${names[1]}`;
  if (n < 60) return `${n}s`;
  return n < 3600 ? pair(60, 1, 'ms') : n < 86400 ? pair(3600, 60, 'hm') : pair(86400, 3600, 'dh');
}

/** A span amid words: 12 s, 3 min, 5 h, 4 days; what was measured may be shorter than a second. */
export function spanSaid(seconds: number): string {
  if (!(seconds > 0)) return '0 s';
  if (seconds < 0.001) return `${precise.format(seconds * 1e6)} µs`;
  if (seconds < 1) return `${precise.format(seconds * 1e3)} ms`;
  if (seconds < 100) return `${Math.floor(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.round(seconds / 3600)} h`;
  return `${whole.format(seconds / 86400)} days`;
}

export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let at = 0;
  while (n >= 1024 && at < units.length - 1) {
    n /= 1024;
    at++;
  }
  return `${parts.format(Math.round(n * 10) / 10)} ${units[at]}`;
}

const two = (n: number): string => String(n).padStart(2, '0');

export function clock(seconds: number): string {
  const at = new Date(seconds * 1000);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/** The time of day at which something is planned, so many seconds from now; with its day when that is another one. */
export function plannedSaid(seconds: number, now: number): string {
  const at = now + seconds, day = moment(at).slice(0, 10), time = clock(at).slice(0, 5);
  return seconds < 60 ? 'now' : day === moment(now).slice(0, 10) ? time : `${day} ${time}`;
}

export function moment(seconds: number): string {
  const at = new Date(seconds * 1000);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(seconds)}`;
}

/** How long ago, in words; of what has just been: just now. */
export function ago(at: number): string {
  const seconds = Date.now() / 1000 - at;
  return seconds < -5 ? `in ${spanSaid(-seconds)}` : seconds < 5 ? 'just now' : `${spanSaid(seconds)} ago`;
}

const expression = /^\/Expr\(([\s\S]*)\)\/$/;

/** A value of an ad in the language. */
export function inLanguage(value: Value): string {
  if (value === null) return 'undefined';
  if (typeof value === 'string') return expression.exec(value)?.[1] ?? JSON.stringify(value);
  if (Array.isArray(value)) return value.length ? `{ ${value.map(inLanguage).join(', ')} }` : '{}';
  if (typeof value === 'object') return `[ ${Object.entries(value).map(([name, of]) => `${name} = ${inLanguage(of)}`).join('; ')} ]`;
  return String(value);
}

/** A value for a cell of a table: texts without quotes. */
export function inCell(value: Value | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return Number.isInteger(value) ? count(value) : real(value);
  return typeof value === 'string' && !expression.test(value) ? value : inLanguage(value);
}
