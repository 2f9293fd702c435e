// route.ts: where one is, from the fragment of the address: `#/ads?constraint=...`.
import { storeMake } from './store';
import { timed } from './turns';

export interface Route {
  path: string[]; // ['ad', 'ID']
  query: URLSearchParams;
}

export function routeRead(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split(/\?(.*)/s);
  const words = path.split('/').filter(Boolean);
  return { path: words.map((word) => safely(word)), query: new URLSearchParams(query) };
}

/** As it was meant, or, when that cannot be told, as it is: nothing in an address keeps the page from being shown. */
export function safely(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

export function routeLink(path: string[], query: Record<string, string | undefined> = {}): string {
  const more = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value) more.set(name, value);
  return `#/${path.map(encodeURIComponent).join('/')}${more.size ? `?${more}` : ''}`;
}

/** Where one is now, with some words of the query changed; those that are undefined are left out. */
export function routeWith(next: Record<string, string | undefined>): string {
  const { path, query } = routeRead(location.hash);
  return routeLink(path, { ...Object.fromEntries(query.entries()), ...next });
}

export const route = storeMake<Route>(routeRead(location.hash));
addEventListener('hashchange', () => route.set(routeRead(location.hash)));

export function routeGo(link: string): void {
  timed(() => { location.hash = link; }); // which takes a browser some milliseconds
}

/** Another address for the same view: no new entry in the history, and nothing is drawn anew. */
export function routeReplace(link: string): void {
  history.replaceState(history.state, '', link);
}

/** How many rows of a list are shown, if the address says so. */
export function countIn(query: URLSearchParams, word: string, least: number): number {
  return Math.max(least, /^\d{1,6}$/.test(query.get(word) ?? '') ? Number(query.get(word)) : 0);
}

export const adLink = (id: string): string => routeLink(['ad', id]);
