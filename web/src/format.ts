// format.ts: numbers, spans, times and values as people read them.
import type { Value } from './api';

const whole = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 0 });
const parts = new Intl.NumberFormat('en-GB', { maximumFractionDigits: 2 });
const precise = new Intl.NumberFormat('en-GB', { maximumSignificantDigits: 4 });

export const count = (n: number): string => whole.format(n);
export const real = (n: number): string => (n > 0 && n < 0.01 ? '< 0.01' : parts.format(n));
export const percent = (n: number): string => `${parts.format(Math.round(n * 1000) / 10)} %`;

export const many = (n: number, one: string, more = `${one}s`): string => `${count(n)} ${n === 1 ? one : more}`;

export function span(seconds: number): string {
  if (seconds <= 0) return '0 s';
  if (seconds < 0.001) return `${precise.format(seconds * 1e6)} µs`;
  if (seconds < 1) return `${precise.format(seconds * 1e3)} ms`;
  if (seconds < 120) return `${whole.format(seconds)} s`;
  if (seconds < 7200) return `${whole.format(seconds / 60)} min`;
  if (seconds < 172800) return `${parts.format(Math.round(seconds / 360) / 10)} h`;
  return `${parts.format(Math.round(seconds / 8640) / 10)} d`;
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

export function moment(seconds: number): string {
  const at = new Date(seconds * 1000);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(seconds)}`;
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
