// live.ts: the pool as it is now, and when customers have news: by the one event stream, or by asking every two seconds while there is none.
import { api, ApiError, type Claim, type DeskTold, type Match, type Overview } from './api';
import { session } from './session';
import { eventsRead } from './sse';
import { storeMake } from './store';
import { inTurn, onceInTurn } from './turns';

export interface Timed<T> {
  row: T;
  at: number; // seconds on this clock
}

export interface Live {
  overview?: Overview;
  matches: Timed<Match>[]; // the newest first
  claims: Timed<Claim>[];
  link: 'starting' | 'live' | 'asking';
  error?: ApiError;
}

const nothing: Live = { matches: [], claims: [], link: 'starting' };
export const live = storeMake<Live>(nothing);

const KEEP = 50, SHOW_EVERY = 1000, ASK_EVERY = 2000, SILENCE = 45_000, AGAIN_FIRST = 1000, AGAIN_MOST = 30_000;

/* Customers that are watched: the stream has news of those that somebody has looked at last. The matchmaker tells of no more. */
const DESKS_MOST = 8;
let desks: string[] = [];
let desksChanged = (): void => {};
let tellDesk = (_desk: string): void => {};

/** Is called whenever something has changed at a customer that is watched, or may have. */
export function deskHeard(heard: (desk: string) => void): void {
  tellDesk = heard;
}

export function deskWatch(desk: string): void {
  const known = desks.includes(desk);
  desks = [desk, ...desks.filter((other) => other !== desk)].slice(0, DESKS_MOST);
  if (!known) desksChanged();
}

const sleep = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener('abort', over);
  });

/** What was seen before keeps its time, so that nothing moves while it stays the same. */
function merged<T extends { Claim: string; Age?: number }>(old: Timed<T>[], rows: T[]): Timed<T>[] {
  const now = Date.now() / 1000, known = new Map(old.map((timed) => [timed.row.Claim, timed]));
  for (const row of rows) {
    const before = known.get(row.Claim);
    known.set(row.Claim, { row, at: before?.at ?? now - (row.Age ?? 0) });
  }
  return [...known.values()].sort((a, b) => b.at - a.at || (a.row.Claim < b.row.Claim ? -1 : 1)).slice(0, KEEP);
}

/** Gathers news and shows them at most once a second. */
function shower(signal: AbortSignal): (news: Partial<Live>) => void {
  let waiting: Partial<Live> | null = null, shown = 0;
  const show = (): void => {
    if (signal.aborted || !waiting) return;
    shown = Date.now();
    live.set({ ...live.get(), ...waiting });
    waiting = null;
  };
  return (news) => {
    const first = !waiting;
    waiting = { ...waiting, ...news };
    if (news.overview && !live.get().overview) show(); // the first is shown at once
    else if (first) setTimeout(() => inTurn(show), Math.max(0, shown + SHOW_EVERY - Date.now())); // not in the frame of something else
  };
}

class Watch {
  private readonly abort = new AbortController();
  private readonly show = shower(this.abort.signal);
  private matches: Timed<Match>[] = [];
  private claims: Timed<Claim>[] = [];
  private fresh: { matches: Match[]; claims: Claim[] } = { matches: [], claims: [] }; // that have come, and were not taken yet
  private streaming = false;
  private failed = false; // the last try to have a stream
  private anew = false; // this stream makes way for one that has news of another customer
  private missed = false; // what came between two streams
  private cut = (): void => {};
  private readonly changes = new Map<string, number>(); // of each customer, as it was told last

  start(): void {
    desksChanged = () => {
      this.anew = true;
      this.cut();
    };
    void this.ask().then(() => this.askOn());
    void this.stream();
  }

  stop(): void {
    this.abort.abort();
  }

  private async ask(): Promise<void> {
    const signal = this.abort.signal;
    try {
      const [overview, matches, claims] = await Promise.all([api.overview(signal), api.matches(KEEP, signal), api.claims(KEEP, signal)]);
      this.take(matches.rows, claims.rows);
      this.show({ overview, error: undefined, link: this.link() });
      if (this.failed) desks.forEach((desk) => tellDesk(desk));
    } catch (thrown) {
      if (!signal.aborted && thrown instanceof ApiError) this.show({ error: thrown, link: this.link() });
    }
  }

  private link(): Live['link'] {
    return this.streaming ? 'live' : this.failed ? 'asking' : 'starting';
  }

  private take(matches: Match[], claims: Claim[]): void {
    this.matches = merged(this.matches, matches);
    this.claims = merged(this.claims, claims);
    this.show({ matches: this.matches, claims: this.claims });
  }

  /** Rows of the stream come many at once: they are taken together, in a frame of their own. */
  private takeLater<T>(of: T[], row: T): void {
    of.push(row);
    if (of.length > KEEP) of.shift();
    this.takeFresh();
  }

  private readonly takeFresh = onceInTurn(() => {
    const { matches, claims } = this.fresh;
    this.fresh = { matches: [], claims: [] };
    if (!this.abort.signal.aborted) this.take(matches, claims);
  });

  private async askOn(): Promise<void> {
    while (!this.abort.signal.aborted) {
      await sleep(ASK_EVERY, this.abort.signal);
      if (!this.streaming && !document.hidden && !this.abort.signal.aborted) await this.ask();
    }
  }

  private heard(event: string, data: string): void {
    try {
      if (event === 'overview') this.show({ overview: JSON.parse(data) as Overview });
      else if (event === 'match') this.takeLater(this.fresh.matches, JSON.parse(data) as Match);
      else if (event === 'claim') this.takeLater(this.fresh.claims, JSON.parse(data) as Claim);
      else if (event === 'desk') this.heardOf(JSON.parse(data) as DeskTold);
    } catch {
      /* not for us */
    }
  }

  private heardOf({ Agent: desk, Changes: changes }: DeskTold): void {
    if (this.changes.get(desk) === changes) return;
    this.changes.set(desk, changes);
    tellDesk(desk);
  }

  private async streamOnce(): Promise<boolean> {
    const once = new AbortController(), over = (): void => once.abort(), missed = this.missed;
    this.anew = false;
    this.cut = over;
    let timer = setTimeout(over, SILENCE);
    this.abort.signal.addEventListener('abort', over, { once: true });
    try {
      const answer = await api.watch(desks, once.signal);
      if (!answer.body) return false;
      const again = this.failed || missed;
      this.streaming = true;
      this.failed = false;
      this.show({ link: 'live', error: undefined });
      if (again) void this.ask();
      await eventsRead(answer.body, ({ event, data }) => this.heard(event, data), () => {
        clearTimeout(timer);
        timer = setTimeout(over, SILENCE);
      });
      return true;
    } catch {
      return this.streaming;
    } finally {
      clearTimeout(timer);
      this.abort.signal.removeEventListener('abort', over);
      this.missed = this.streaming;
      this.streaming = false;
      if (!this.anew) {
        this.failed = true;
        this.show({ link: 'asking' });
      }
    }
  }

  private async stream(): Promise<void> {
    let wait = AGAIN_FIRST;
    while (!this.abort.signal.aborted) {
      const worked = await this.streamOnce();
      if (this.anew) continue;
      wait = worked ? AGAIN_FIRST : Math.min(wait * 2, AGAIN_MOST);
      await sleep(wait * (0.75 + Math.random() / 2), this.abort.signal);
    }
  }
}

/** Watches while somebody is signed in. */
export function liveStart(): void {
  let watch: Watch | null = null, token: string | null = null;
  const follow = (): void => {
    if (session.get().token === token) return;
    token = session.get().token;
    watch?.stop();
    desks = [];
    live.set(nothing);
    watch = token ? new Watch() : null;
    watch?.start();
  };
  session.watch(follow);
  follow();
}
