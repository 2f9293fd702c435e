// hooks.ts: asking the server from a component: the old answer stays until the new one is there.
import type { JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api';
import type { News } from './news';
import { storeMake } from './store';
import { inTurn, onceInTurn, pace } from './turns';

export interface Loaded<T> {
  value?: T;
  error?: ApiError;
  busy: boolean;
  again: () => void;
}

const asError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : new ApiError(0, 'Error', thrown instanceof Error ? thrown.message : String(thrown));

/** When to ask again: there is news of something, but not so soon after the last time. */
export interface Anew {
  of: News;
  least?: number; // milliseconds between two questions
}

const LEAST = 2000;

/** Asks when `key` changes, and when there is news. A key that is null: not at all. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, key: string | null, anew?: Anew): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; value?: T; error?: ApiError; busy: boolean }>({ key, busy: key !== null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load), news = anew?.of, least = anew?.least ?? LEAST;
  latest.current = load;
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    let timer = 0, asked = 0, asking = false, wanted = false;
    const ask = async (): Promise<void> => {
      asking = true;
      wanted = false;
      asked = Date.now();
      try {
        const value = await latest.current(abort.signal);
        inTurn(() => { // several answers that come at once are not drawn in one frame
          if (!abort.signal.aborted) setState({ key, value, busy: false });
        });
      } catch (thrown) {
        if (abort.signal.aborted) return;
        setState((old) => ({ key, value: old.key === key ? old.value : undefined, error: asError(thrown), busy: false }));
      }
      asking = false;
      if (wanted && !abort.signal.aborted) later();
    };
    const later = (): void => {
      wanted = true;
      if (asking || timer || document.hidden) return;
      timer = window.setTimeout(() => {
        timer = 0;
        if (wanted && !abort.signal.aborted && !document.hidden) void ask();
      }, Math.max(0, asked + least - Date.now()));
    };
    const shown = (): void => void (wanted && later());
    const leave = news?.watch(later);
    document.addEventListener('visibilitychange', shown);
    setState((old) => (old.key !== key ? { key, busy: true } : old.busy ? old : { ...old, busy: true }));
    const unasked = inTurn(() => void ask()); // a view has many questions
    return () => {
      unasked();
      abort.abort();
      leave?.();
      document.removeEventListener('visibilitychange', shown);
      clearTimeout(timer);
    };
  }, [key, news, least, turn]);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  return state.key === key ? { ...state, again } : { busy: key !== null, again };
}

/** Something that a person starts: its outcome, or why it was refused. */
export function useAct<A extends unknown[], T>(act: (...of: A) => Promise<T>): { run: (...of: A) => Promise<T | undefined>; value?: T; error?: ApiError; busy: boolean; clear: () => void } {
  const [state, setState] = useState<{ value?: T; error?: ApiError; busy: boolean }>({ busy: false });
  const turn = useRef(0);
  const run = async (...of: A): Promise<T | undefined> => {
    const mine = ++turn.current;
    setState((old) => ({ ...old, busy: true }));
    try {
      const value = await act(...of);
      if (mine === turn.current) setState({ value, busy: false });
      return value;
    } catch (thrown) {
      if (mine === turn.current) setState({ error: asError(thrown), busy: false });
      return undefined;
    }
  };
  return { ...state, run, clear: () => setState({ busy: false }) };
}

/** A value that has been quiet for a while. */
export function useQuiet<T>(value: T, wait: number): T {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), wait);
    return () => clearTimeout(timer);
  }, [value, wait]);
  return quiet;
}

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Berth`;
  }, [title]);
}

/** The width of an element, as it is laid out; 0 before it is. */
export function useWidth(): { of: { current: HTMLDivElement | null }; width: number } {
  const of = useRef<HTMLDivElement>(null), [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = of.current;
    if (!element) return;
    let gone = false;
    const fit = new ResizeObserver(() => { // it tells the first width as well
      const next = element.clientWidth;
      inTurn(() => { if (!gone) setWidth(next); }); // drawn in this frame it would be laid out twice
    });
    fit.observe(element);
    return () => {
      gone = true;
      fit.disconnect();
    };
  }, []);
  return { of, width };
}

/** Whether the turn has come of what is drawn: a view comes part by part. */
export function useTurn(): boolean {
  const [come, setCome] = useState(false);
  useLayoutEffect(() => inTurn(() => setCome(true)), []);
  return come;
}

/* How much of a frame, by its time, was given away to what is drawn in it for the first time: 1 is all of it. */
const given = { frame: -1, part: 0 };

/** A part of a list. It is drawn again when what it shows has other values, or `also` is another. */
export interface Part {
  key: string;
  of: unknown;
  also?: unknown;
  draw: () => JSX.Element;
  blank?: () => JSX.Element; // in its place until its turn comes
  place?: number; // where it is among all, of a list that has its parts at places of their own
}

/** A part as it was drawn last. */
interface Drawn {
  of: unknown; // these values, or others that are alike
  also: unknown;
  other?: unknown; // values that it is known to lack
  node: JSX.Element;
  place?: number;
}

const GONE_MOST = 60; // parts that nobody sees any more, and that are still there

/** Those that were drawn, are wanted no more and lie outside of the window, before and behind it: they leave a few a frame. */
function leaving(before: Map<string, Drawn>, next: Map<string, Drawn>, [from, to]: [number, number], mayGo: () => boolean): { first: [string, Drawn][]; last: [string, Drawn][]; all: boolean } {
  const first: [string, Drawn][] = [], last: [string, Drawn][] = [];
  let met = false, all = true;
  for (const [key, one] of before) {
    if (next.has(key)) met = true;
    else if (one.place === undefined || (one.place >= from && one.place < to) || first.length + last.length >= GONE_MOST || mayGo()) continue;
    else (met ? last : first).push([key, one]), all = false;
  }
  return { first, last, all };
}

/** Draws a list a few parts a frame, those that are new and those that have changed, so that it takes no frame for itself; until its turn comes a part stays as it was.
 * `most`: as many would fill a frame alone, more or fewer as this browser is quick; lists that are drawn at the same time share it. A new list begins in its first turn.
 * `window`: the places that are seen; of a list that has places, parts that lie elsewhere go a few a frame, too. */
export function useSliced(parts: Part[], most: number, window?: [number, number]): { drawn: JSX.Element[]; whole: boolean } {
  const before = useRef(new Map<string, Drawn>()), [, again] = useState(0), drawn: JSX.Element[] = [];
  const now = Number(document.timeline.currentTime ?? 0), first = useRef(true), each = 1 / Math.max(1, Math.floor(most * pace()));
  let whole = true, next: typeof before.current = new Map();
  if (given.frame !== now) Object.assign(given, { frame: now, part: 0 });
  for (const part of parts) {
    let one = before.current.get(part.key);
    if (one && one.also === part.also && !Object.is(one.of, part.of) && !Object.is(one.other, part.of)) { // what was compared once is not in each frame
      if (JSON.stringify(one.of) === JSON.stringify(part.of)) one.of = part.of;
      else one.other = part.of;
    }
    if (!one || one.also !== part.also || !Object.is(one.of, part.of)) {
      if (!first.current && given.part + each < 1.001) {
        given.part += each;
        one = { of: part.of, also: part.also, node: part.draw(), place: part.place };
      } else {
        whole = false;
      }
    }
    if (one) next.set(part.key, one);
    if (one) drawn.push(one.node);
    else if (part.blank) drawn.push(part.blank());
  }
  if (window) {
    const gone = leaving(before.current, next, window, () => given.part + each / 2 < 1.001 && !!(given.part += each / 2));
    next = new Map([...gone.first, ...next, ...gone.last]); // in this order they are in the document
    drawn.unshift(...gone.first.map(([, one]) => one.node));
    drawn.push(...gone.last.map(([, one]) => one.node));
    whole &&= gone.all;
  }
  useLayoutEffect(() => {
    before.current = next;
    first.current = false;
    return whole ? undefined : inTurn(() => again((n) => n + 1)); // not in the frame of something else that has its turn
  });
  return { drawn, whole };
}

const SLICE = 1; // milliseconds of a frame

/** What is made in steps, a few in each frame; until it is made anew, what was made before. */
export function useSteps<T>(make: () => Generator<void, T>, of: unknown[]): T | undefined {
  const [made, setMade] = useState<T | undefined>(undefined);
  useEffect(() => {
    const steps = make();
    let leave = (): void => {};
    const go = (): void => {
      for (const began = performance.now(); performance.now() - began < SLICE;) {
        const { done, value } = steps.next();
        if (!done) continue;
        leave = inTurn(() => setMade(() => value)); // what is drawn of it takes time, too
        return;
      }
      leave = inTurn(go);
    };
    leave = inTurn(go);
    return () => leave();
  }, of);
  return made;
}

/** The part of a box that scrolls which is seen, in steps of some pixels. */
export function useScrolled(step: number): { of: { current: HTMLDivElement | null }; left: number; top: number; width: number; height: number } {
  const of = useRef<HTMLDivElement>(null), [seen, setSeen] = useState({ left: 0, top: 0, width: 0, height: 0 });
  useLayoutEffect(() => {
    const box = of.current;
    if (!box) return;
    const look = (): void => {
      const next = { left: Math.floor(box.scrollLeft / step) * step, top: Math.floor(box.scrollTop / step) * step, width: box.clientWidth + step, height: box.clientHeight + step };
      setSeen((old) => (old.left === next.left && old.top === next.top && old.width === next.width && old.height === next.height ? old : next));
    };
    const later = onceInTurn(look), fit = new ResizeObserver(later); // drawn in the frame that has scrolled it would be laid out twice
    fit.observe(box);
    box.addEventListener('scroll', later, { passive: true });
    return () => {
      fit.disconnect();
      box.removeEventListener('scroll', later);
    };
  }, []);
  return { of, ...seen };
}

const ticks = storeMake(0), tick = onceInTurn(() => ticks.set(ticks.get() + 1));
let ticking = 0;

/** Draws again every few seconds: for spans that grow. */
export function useTick(): void {
  const [, setTurn] = useState(0);
  useEffect(() => {
    if (!ticking) ticking = window.setInterval(() => document.hidden || tick(), 5000);
    return ticks.watch(setTurn);
  }, []);
}
