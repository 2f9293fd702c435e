// app.tsx: the frame around the views: signing in, where to go, and how the link to the matchmaker is.
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { api } from './api';
import { live } from './live';
import { route, type Route } from './route';
import { session, sessionEnd, sessionKnow } from './session';
import { useStore } from './store';
import { theme, themeNext } from './theme';
import { AdView } from './views/ad';
import { AdsView } from './views/ads';
import { AgentsView } from './views/agents';
import { AuditView } from './views/audit';
import { JobView } from './views/job';
import { JobsView } from './views/jobs';
import { MachinesView, MachineView } from './views/machines';
import { PlayView } from './views/play';
import { PolicyView } from './views/policy';
import { PoolView } from './views/pool';
import { SignIn } from './views/signin';
import { UsersView, UserView } from './views/users';
import { WorkflowView } from './views/workflows';

const places: { path: string; name: string; also: string[] }[] = [
  { path: 'pool', name: 'Pool', also: [] },
  { path: 'machines', name: 'Machines', also: [] },
  { path: 'ads', name: 'Ads', also: ['ad'] },
  { path: 'jobs', name: 'Jobs', also: ['job', 'workflow'] },
  { path: 'users', name: 'Users', also: [] },
  { path: 'policy', name: 'Policy', also: [] },
  { path: 'play', name: 'Playground', also: [] },
  { path: 'agents', name: 'Agents', also: [] },
  { path: 'audit', name: 'Changes', also: [] },
];

function View({ at }: { at: Route }): JSX.Element {
  const [first = 'pool', second, third] = at.path;
  switch (first) {
    case 'pool': return <PoolView />;
    case 'ads': return <AdsView query={at.query} />;
    case 'ad': return <AdView key={second} id={second ?? ''} />;
    case 'machines': return second ? <MachineView key={second} name={second} /> : <MachinesView />;
    case 'play': return <PlayView query={at.query} />;
    case 'policy': return <PolicyView />;
    case 'users': return second ? <UserView key={second} name={second} /> : <UsersView />;
    case 'jobs': return <JobsView query={at.query} />;
    case 'job': return <JobView key={`${second}/${third}`} desk={second ?? ''} id={third ?? ''} />;
    case 'workflow': return <WorkflowView key={`${second}/${third}`} desk={second ?? ''} id={third ?? ''} />;
    case 'agents': return <AgentsView />;
    case 'audit': return <AuditView query={at.query} />;
    default: return <><h1>Not there</h1><p>There is no such view. <a href="#/pool">To the pool</a></p></>;
  }
}

const links = { starting: '', live: 'Live', asking: 'No live stream: asking every 2 s' };

function LinkState(): JSX.Element {
  const { link } = useStore(live);
  return <span class={`link ${link}`} role="status">{links[link]}</span>;
}

/** What the token allows, for buttons that would be refused. A matchmaker that does not say is asked all the same. */
function useWho(): void {
  const { token, scope } = useStore(session);
  useEffect(() => {
    if (!token || scope) return;
    const abort = new AbortController();
    api.who(abort.signal).then(
      (who) => session.get().token === token && sessionKnow({ subject: who.Subject, scope: (who.Scope ?? '').split(' ').filter(Boolean), expires: who.Expires }),
      () => {},
    );
    return () => abort.abort();
  }, [token]);
}

const themeWords = { system: 'system', light: 'light', dark: 'dark' };

function Top(): JSX.Element {
  const at = useStore(route), who = useStore(session), look = useStore(theme), [open, setOpen] = useState(false);
  const here = at.path[0] ?? 'pool';
  useEffect(() => setOpen(false), [at]);
  return (
    <header class="top">
      <a class="brand" href="#/pool">Berth</a>
      <button type="button" class="menu" aria-expanded={open} aria-controls="places" onClick={() => setOpen(!open)}>Menu</button>
      <nav id="places" class={open ? 'open' : ''} aria-label="Views">
        <ul>
          {places.map(({ path, name, also }) => (
            <li key={path}><a href={`#/${path}`} aria-current={here === path || also.includes(here) ? 'page' : undefined}>{name}</a></li>
          ))}
        </ul>
        <div class="foot">
          <LinkState />
          {who.subject ? <span class="who">{who.subject}</span> : null}
          <button type="button" onClick={themeNext} aria-label={`Colours: ${themeWords[look]}. Change`}>Colours: {themeWords[look]}</button>
          <button type="button" onClick={() => sessionEnd()}>Sign out</button>
        </div>
      </nav>
    </header>
  );
}

export function App({ code }: { code: string | null }): JSX.Element {
  const { token } = useStore(session), at = useStore(route), main = useRef<HTMLElement>(null), [unused, setUnused] = useState(code);
  useWho();
  useEffect(() => {
    if (token) setUnused(null);
  }, [token]);
  const place = at.path.join('/');
  const before = useRef(place);
  useEffect(() => {
    if (before.current === place) return; // the first view, or another question to the same one
    before.current = place;
    main.current?.focus({ preventScroll: true });
    scrollTo(0, 0);
  }, [place]);
  if (!token || unused) return <SignIn code={unused} />;
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); main.current?.focus(); }}>Skip to the content</a>
      <Top />
      <main id="main" ref={main} tabIndex={-1}><View at={at} /></main>
    </>
  );
}
