// hooks.ts: asking the server from a component: the old answer stays until the new one is there.
import type { JSX } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api';
import type { News } from './news';
import { storeMake } from './store';

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
    setState((old) => (old.key === key ? { ...old, busy: true } : { key, busy: true }));
    void ask();
    return () => {
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

/** Does something behind the next frame, so that it is laid out with what that brings, and not in it a second time. Returns how to leave it. */
export function nextFrame(what: () => void): () => void {
  let timer = 0;
  const frame = requestAnimationFrame(() => { timer = window.setTimeout(what); });
  return () => {
    cancelAnimationFrame(frame);
    clearTimeout(timer);
  };
}

const turns: (() => void)[] = [];
let turning = false;

function turnNext(): void {
  try {
    turns.shift()?.();
  } finally {
    turning = turns.length > 0;
    if (turning) nextFrame(turnNext);
  }
}

/** Does it in a frame of its own, after all that was asked for before: what a turn asks for, too, comes in a later frame. Returns how to leave the row. */
export function inTurn(what: () => void): () => void {
  const turn = (): void => what(); // another one each time, so that it can be found
  turns.push(turn);
  if (!turning) {
    turning = true;
    nextFrame(turnNext);
  }
  return () => {
    const place = turns.indexOf(turn);
    if (place >= 0) turns.splice(place, 1);
  };
}

/** The same for what comes again and again: it waits in one turn at most. */
export function onceInTurn(what: () => void): () => void {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    inTurn(() => {
      waits = false;
      what();
    });
  };
}

/* How much of a frame was given away to what is drawn in it for the first time: 1 is all of it. */
const given = { frame: -1, part: 0 };

/** A part of a list. It is drawn again when what it shows has other values, or `also` is another. */
export interface Part {
  key: string;
  of: unknown;
  also?: unknown;
  draw: () => JSX.Element;
  blank?: () => JSX.Element; // in its place until its turn comes
}

/** A part as it was drawn last. */
interface Drawn {
  of: unknown; // these values, or others that are alike
  also: unknown;
  other?: unknown; // values that it is known to lack
  node: JSX.Element;
}

/** Draws a list a few parts a frame, those that are new and those that have changed, so that it takes no frame for itself; until its turn comes a part stays as it was.
 * `most`: as many would fill a frame alone; lists that are drawn at the same time share it. */
export function useSliced(parts: Part[], most: number): { drawn: JSX.Element[]; whole: boolean } {
  const before = useRef(new Map<string, Drawn>()), [, again] = useState(0), next: typeof before.current = new Map(), drawn: JSX.Element[] = [];
  const now = Number(document.timeline.currentTime ?? 0); // the same all through a frame
  let whole = true;
  if (given.frame !== now) Object.assign(given, { frame: now, part: 0 });
  for (const part of parts) {
    let one = before.current.get(part.key);
    if (one && one.also === part.also && !Object.is(one.of, part.of) && !Object.is(one.other, part.of)) { // what was compared once is not in each frame
      if (JSON.stringify(one.of) === JSON.stringify(part.of)) one.of = part.of;
      else one.other = part.of;
    }
    if (!one || one.also !== part.also || !Object.is(one.of, part.of)) {
      if (given.part <= 1 - 1 / most) {
        given.part += 1 / most;
        one = { of: part.of, also: part.also, node: part.draw() };
      } else {
        whole = false;
      }
    }
    if (one) next.set(part.key, one);
    if (one) drawn.push(one.node);
    else if (part.blank) drawn.push(part.blank());
  }
  useLayoutEffect(() => {
    before.current = next;
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
