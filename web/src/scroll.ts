// scroll.ts: who goes back finds a view where it was left: each entry of the history has its place, and what is drawn a few rows a frame is waited for.
import { routeRead } from './route';
import { inTurn } from './turns';

const ENTRIES_MOST = 100, WAIT = 10_000; // milliseconds for a view to be as long again as it was
const GESTURES = ['wheel', 'keydown', 'pointerdown', 'touchstart'];
const places = new Map<string, number>();
let leave = (): void => {};
let entries = 0;

/** The word of the entry that one is at; a new one is given a word. */
function entryNow(): { word: string; known: boolean } {
  const word = (history.state as { entry?: unknown } | null)?.entry;
  if (typeof word === 'string') return { word, known: true };
  const made = `${Date.now()}.${++entries}`; // crypto.randomUUID is there by https alone
  history.replaceState({ entry: made }, '');
  return { word: made, known: false };
}

/** Goes there whenever the page is long enough, for the view that was there before is yet to make way; until somebody scrolls, points or types. */
function placeGo(top: number): void {
  leave();
  const until = Date.now() + (top ? WAIT : 0);
  let gone = false;
  const look = (): void => {
    if (gone) return;
    if (document.documentElement.scrollHeight - innerHeight >= top && Math.abs(scrollY - top) > 1) scrollTo(0, top);
    if (Date.now() > until) leave();
  };
  const fit = new ResizeObserver(() => inTurn(look)), over = (): void => leave();
  leave = () => {
    gone = true;
    fit.disconnect();
    for (const gesture of GESTURES) removeEventListener(gesture, over);
  };
  for (const gesture of GESTURES) addEventListener(gesture, over, { passive: true });
  if (top) fit.observe(document.body);
  else inTurn(look);
}

export function scrollKeep(): void {
  const pathNow = (): string => routeRead(location.hash).path.join('/');
  let entry = entryNow().word, path = pathNow(), top = 0, left = 0;
  history.scrollRestoration = 'manual';
  addEventListener('scroll', () => { top = scrollY; }, { passive: true }); // asked for at another time the page would be laid out for it
  addEventListener('popstate', () => { left = top; }); // comes first: the view that is left is still there
  addEventListener('hashchange', () => {
    const { word, known } = entryNow(), next = pathNow();
    places.delete(entry);
    places.set(entry, left);
    for (const old of places.keys()) if (places.size > ENTRIES_MOST) places.delete(old);
    placeGo(known ? places.get(word) ?? 0 : next === path ? left : 0); // another question to the same view is asked where one is
    entry = word;
    path = next;
  });
}
