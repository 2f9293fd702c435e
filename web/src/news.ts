// news.ts: when to ask anew: the stream says that something has changed, in the pool or at a customer.
import { deskHeard, deskWatch, live } from './live';
import { storeMake, type Store } from './store';

/** Counts the changes of something. */
export type News = Pick<Store<number>, 'get' | 'watch'>;

/** The pool's. While there is no stream each question that is asked instead counts. */
const pool = storeMake(0);
live.watch(() => pool.set(pool.get() + 1));
export const poolNews: News = pool;

interface DeskNews extends News {
  tell: () => void;
}

const desks = new Map<string, DeskNews>();

/** What changes among the jobs of a customer. The stream has it from the first time that somebody watches. */
export function deskNews(desk: string): News {
  let news = desks.get(desk);
  if (!news) {
    const turns = storeMake(0);
    const watch: News['watch'] = (heard) => {
      deskWatch(desk);
      return turns.watch(heard);
    };
    desks.set(desk, (news = { get: turns.get, watch, tell: () => turns.set(turns.get() + 1) }));
  }
  return news;
}

deskHeard((desk) => desks.get(desk)?.tell());

/** The next news after that count of them. */
export function newsAfter(of: News, count: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (of.get() !== count || signal.aborted) return resolve();
    const over = (): void => {
      leave();
      signal.removeEventListener('abort', over);
      resolve();
    };
    const leave = of.watch(over);
    signal.addEventListener('abort', over);
  });
}
