// news.ts: when to ask anew: the pool's stream says that something has changed, and so does a customer, by a question that it answers when it has.
import { api, ApiError, type Summary } from './api';
import { live } from './live';
import { session } from './session';
import { storeMake, type Store } from './store';

/** Counts the changes of something. */
export type News = Pick<Store<number>, 'get' | 'watch'>;

/** The pool's. While there is no stream each question that is asked instead counts. */
const pool = storeMake(0);
live.watch(() => pool.set(pool.get() + 1));
export const poolNews: News = pool;

const WAIT = 20, AGAIN_FIRST = 1000, AGAIN_MOST = 30_000;

export interface DeskNews extends News {
  summary: Store<Summary | undefined>;
}

class DeskWatch implements DeskNews {
  readonly summary = storeMake<Summary | undefined>(undefined);
  private readonly turns = storeMake(0);
  private watchers = 0;
  private abort: AbortController | null = null;

  constructor(private readonly desk: string) {}

  get(): number {
    return this.turns.get();
  }

  watch(heard: (turn: number) => void): () => void {
    const leave = this.turns.watch(heard);
    if (!this.watchers++) void this.follow((this.abort = new AbortController()).signal);
    return () => {
      leave();
      if (!--this.watchers) this.abort?.abort();
    };
  }

  private async follow(signal: AbortSignal): Promise<void> {
    let after: number | undefined, pause = AGAIN_FIRST;
    const sleep = (ms: number): Promise<void> =>
      new Promise((resolve) => {
        const timer = setTimeout(resolve, ms);
        signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
      });
    while (!signal.aborted) {
      try {
        const said: Summary & { Changes?: number } = await api.summary(this.desk, after === undefined ? {} : { after, wait: WAIT }, signal);
        pause = AGAIN_FIRST;
        if (said.Changes === undefined || said.Changes !== after) {
          this.summary.set(said);
          if (after !== undefined || said.Changes === undefined) this.turns.set(this.turns.get() + 1);
        }
        if (said.Changes === undefined) await sleep(AGAIN_FIRST); // one that cannot wait
        after = said.Changes;
      } catch (thrown) {
        if (signal.aborted || (thrown instanceof ApiError && (thrown.status === 403 || thrown.status === 404))) return;
        await sleep(pause);
        pause = Math.min(2 * pause, AGAIN_MOST);
      }
    }
  }
}

const desks = new Map<string, DeskWatch>();

/** What changes among the jobs of a customer. It is asked while somebody watches. */
export function deskNews(desk: string): DeskNews {
  let watch = desks.get(desk);
  if (!watch) desks.set(desk, (watch = new DeskWatch(desk)));
  return watch;
}

session.watch(() => desks.clear());
