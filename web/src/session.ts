// session.ts: who is signed in: a token, kept for as long as the tab lives, and what is known of it.
import { storeMake } from './store';

const KEY = 'berth.token';

export interface Session {
  token: string | null;
  subject?: string;
  scope?: string[]; // undefined: the matchmaker did not say
  expires?: number;
  reason?: string; // why one has to sign in again
}

export const session = storeMake<Session>({ token: sessionStorage.getItem(KEY) });

export function sessionBegin(token: string, known: Partial<Session> = {}): void {
  sessionStorage.setItem(KEY, token);
  session.set({ ...known, token });
}

export function sessionKnow(known: Partial<Session>): void {
  session.set({ ...session.get(), ...known });
}

export function sessionEnd(reason?: string): void {
  sessionStorage.removeItem(KEY);
  session.set({ token: null, reason });
}

/** Undefined when it is not known what the token allows. */
export function scopeHas(of: Session, scope: string): boolean | undefined {
  return of.scope?.includes(scope);
}
