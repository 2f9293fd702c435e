// hooks.ts: asking the server from a component: the old answer stays until the new one is there.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError } from './api';

export interface Loaded<T> {
  value?: T;
  error?: ApiError;
  busy: boolean;
  again: () => void;
}

const asError = (thrown: unknown): ApiError =>
  thrown instanceof ApiError ? thrown : new ApiError(0, 'Error', thrown instanceof Error ? thrown.message : String(thrown));

/** Asks when `key` changes, and every so many milliseconds. A key that is null: not at all. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, key: string | null, every = 0): Loaded<T> {
  const [state, setState] = useState<{ key: string | null; value?: T; error?: ApiError; busy: boolean }>({ key, busy: key !== null });
  const [turn, setTurn] = useState(0);
  const latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    if (key === null) return;
    const abort = new AbortController();
    let timer = 0;
    const ask = async (): Promise<void> => {
      try {
        const value = await latest.current(abort.signal);
        if (!abort.signal.aborted) setState({ key, value, busy: false });
      } catch (thrown) {
        if (abort.signal.aborted) return;
        setState((old) => ({ key, value: old.key === key ? old.value : undefined, error: asError(thrown), busy: false }));
      }
      if (every && !abort.signal.aborted) timer = window.setTimeout(later, every);
    };
    const later = (): void => void (document.hidden ? (timer = window.setTimeout(later, every)) : ask());
    setState((old) => (old.key === key ? { ...old, busy: true } : { key, busy: true }));
    void ask();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [key, every, turn]);
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
