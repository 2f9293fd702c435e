// signin.tsx: a form for a token; or the code of a one-time link.
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api, ApiError } from '../api';
import { useTitle } from '../hooks';
import { safely } from '../route';
import { session, sessionBegin } from '../session';
import { useStore } from '../store';

/** The code of `/#k=CODE`. It is taken out of the address at once: it is good once, and not for the history. */
export function codeTake(): string | null {
  const found = /^#k=([^&]+)/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, '', '#/pool');
  dispatchEvent(new HashChangeEvent('hashchange'));
  return safely(found[1]!);
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
      {busy ? <p role="status">Signing in …</p> : (
        <form onSubmit={submit}>
          {wrong ?? reason ? <div class="problem" role="alert">{wrong ?? reason}</div> : null}
          <label for="token">Token</label>
          <textarea id="token" rows={5} spellcheck={false} autocomplete="off" required value={text} onInput={(event) => setText(event.currentTarget.value)} />
          <button type="submit" class="main">Sign in</button>
          <p class="note">The owner of a pool gets a link when it starts, and <code>berth page</code> makes another. Others get a token by <code>berth page</code>, where they submit jobs, or are given one: <code>berth token create</code> makes it. It is kept until this tab is closed.</p>
        </form>
      )}
    </main>
  );
}
