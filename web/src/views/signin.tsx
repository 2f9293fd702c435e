// signin.tsx: a button for each institute that one can sign in by, and a form for a token; or the code of a one-time link.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError, type Door } from '../api';
import { useTitle } from '../hooks';
import { safely } from '../route';
import { session, sessionBegin } from '../session';
import { useStore } from '../store';

/** The code of `/#k=CODE`. It is taken out of the address at once: it is good once, and not for the history. */
export function codeTake(): string | null {
  const found = /^#k=([^&]+)/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, '', '#/home');
  dispatchEvent(new HashChangeEvent('hashchange'));
  return safely(found[1]!);
}

/** What the matchmaker says of a sign-in that an institute has sent back. */
const FAULTS: Record<string, string> = {
  unknown: 'One cannot sign in by that institute here.',
  expired: 'That sign-in was not begun in this browser, took too long, or has ended before. Please begin again, from this page.',
  denied: 'The institute says that the sign-in was refused there.',
  issuer: 'The institute does not answer, or not as it should. Please try again later; the matchmaker’s log has the reason.',
  refused: 'The matchmaker does not accept who the institute says you are. Its log has the reason.',
  rights: 'The institute has told who you are, but its configuration here gives you no rights in this pool. Please ask the owner of the pool.',
  disabled: 'You are known here, but your user is disabled. Please ask the owner of the pool.',
  busy: 'The institute was not ready yet, or too many sign in at the moment. Please try again in a moment.',
};

/** The words for `/#signin=WORD`, which leaves the address too. Whoever makes up such an address can choose among our words, and not write others. */
export function faultTake(): string | undefined {
  const found = /^#signin=([a-z]*)/.exec(location.hash);
  if (!found) return undefined;
  history.replaceState(null, '', '#/home');
  dispatchEvent(new HashChangeEvent('hashchange'));
  return Object.hasOwn(FAULTS, found[1]!) ? FAULTS[found[1]!] : 'The sign-in did not succeed.';
}

function Doors(): JSX.Element | null {
  const [doors, setDoors] = useState<{ url: string; items: Door[] }>();
  useEffect(() => {
    const abort = new AbortController();
    api.root(abort.signal).then((root) => setDoors({ url: root.Url ?? '', items: root.SignIn ?? [] })).catch(() => undefined); // the form is there anyway
    return () => abort.abort();
  }, []);
  if (!doors?.items.length) return null;
  return (
    <nav class="doors" aria-label="Institutes">
      {doors.items.map((door) => <a key={door.Name} href={`${doors.url}/v1/signin?issuer=${encodeURIComponent(door.Name)}`}>Sign in by {door.Title}</a>)}
      <p class="note">Or with a token:</p>
    </nav>
  );
}

/** People paste what they have: the token, or the file that it is in. */
const tokenFind = (text: string): string => /v4\.public\.[\w\-.~]+(?:~v4\.public\.[\w\-.]+)*/.exec(text)?.[0] ?? text.trim();

export function SignIn({ code }: { code: string | null }): JSX.Element {
  const { reason } = useStore(session);
  const [text, setText] = useState(''), [busy, setBusy] = useState(code !== null), [wrong, setWrong] = useState<string>();
  useTitle('Sign in');
  useEffect(() => {
    if (code === null) return;
    api.redeem(code)
      .then((got) => sessionBegin(got.Token, { subject: got.Subject, scope: got.Scope?.split(' '), expires: got.Expires }))
      .catch((thrown: unknown) => {
        setBusy(false);
        setWrong(`The link is not good (it works once, and not for long): ${thrown instanceof ApiError ? thrown.detail : String(thrown)}.`);
      });
  }, [code]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const token = tokenFind(text);
    if (!/^[\x21-\x7e]+$/.test(token)) setWrong('That is not a token.');
    else sessionBegin(token);
  };
  return (
    <main id="main" class="signin" tabIndex={-1}>
      <h1>Berth</h1>
      {busy ? <p role="status">Signing in …</p> : <>
        {wrong ?? reason ? <div class="problem" role="alert">{wrong ?? reason}</div> : null}
        <Doors />
        <form onSubmit={submit}>
          <label for="token">Token</label>
          <textarea id="token" rows={5} spellcheck={false} autocomplete="off" required value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <button type="submit" class="main">Sign in</button>
          <p class="note">The owner of a pool gets a link when it starts, and <code>berth page</code> makes another. Others get a token by <code>berth page</code>, where they submit jobs, or are given one: <code>berth token create</code> makes it. It is kept until this tab is closed.</p>
        </form>
      </>}
    </main>
  );
}
