// store.ts: a value that components can watch.
import { useEffect, useState } from 'preact/hooks';

export interface Store<T> {
  get(): T;
  set(next: T): void;
  watch(heard: (value: T) => void): () => void;
}

export function storeMake<T>(first: T): Store<T> {
  let value = first;
  const watchers = new Set<(value: T) => void>();
  return {
    get: () => value,
    set(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const heard of [...watchers]) heard(value);
    },
    watch(heard) {
      watchers.add(heard);
      return () => watchers.delete(heard);
    },
  };
}

export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState<{ of: T }>({ of: store.get() });
  useEffect(() => {
    setValue((old) => (Object.is(old.of, store.get()) ? old : { of: store.get() })); // it may have changed before the watch began
    return store.watch((next) => setValue({ of: next }));
  }, [store]);
  return value.of;
}
