// app.tsx: the frame around the views: signing in, where to go, and how the link to the matchmaker is.
import type { JSX } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { api } from './api';
import { Keys } from './keys';
import { lazy } from './lazy';
import { live } from './live';
import { route, type Route } from './route';
import { scopeHas, session, sessionEnd, sessionKnow } from './session';
import { storeMake, useStore } from './store';
import { theme, themeNext } from './theme';
import { inTurn } from './turns';
import { HomeView } from './views/home';
import { SignIn } from './views/signin';

const MachinesView = lazy(() => import('./views/all').then((m) => m.MachinesView));
const MachineView = lazy(() => import('./views/all').then((m) => m.MachineView));
const JobsView = lazy(() => import('./views/all').then((m) => m.JobsView));
const JobView = lazy(() => import('./views/all').then((m) => m.JobView));
const WorkflowsView = lazy(() => import('./views/all').then((m) => m.WorkflowsView));
const WorkflowView = lazy(() => import('./views/all').then((m) => m.WorkflowView));
const SubmitView = lazy(() => import('./views/all').then((m) => m.SubmitView));
const UsersView = lazy(() => import('./views/all').then((m) => m.UsersView));
const UserView = lazy(() => import('./views/all').then((m) => m.UserView));
const UsageView = lazy(() => import('./views/all').then((m) => m.UsageView));
const PolicyView = lazy(() => import('./views/all').then((m) => m.PolicyView));
const PlayView = lazy(() => import('./views/all').then((m) => m.PlayView));
const AuditView = lazy(() => import('./views/all').then((m) => m.AuditView));
const ConfigsView = lazy(() => import('./views/all').then((m) => m.ConfigsView));
const ConfigView = lazy(() => import('./views/all').then((m) => m.ConfigView));
const PoolView = lazy(() => import('./views/all').then((m) => m.PoolView));
const AdsView = lazy(() => import('./views/all').then((m) => m.AdsView));
const AdView = lazy(() => import('./views/all').then((m) => m.AdView));
const AgentsView = lazy(() => import('./views/all').then((m) => m.AgentsView));

interface Place { path: string; name: string; also: string[]; scope?: string } // `scope`: it is for those who have that
const places: Place[] = [
  { path: 'home', name: 'Home', also: [] },
  { path: 'submit', name: 'Submit', also: [] },
  { path: 'jobs', name: 'Jobs', also: ['job'] },
  { path: 'workflows', name: 'Workflows', also: ['workflow'] },
  { path: 'machines', name: 'Machines', also: [] },
  { path: 'users', name: 'Users', also: [] },
  { path: 'usage', name: 'Accounting', also: [] },
  { path: 'policy', name: 'Policy', also: [] },
  { path: 'config', name: 'Configuration', also: [], scope: 'config' },
  { path: 'play', name: 'Playground', also: [] },
  { path: 'audit', name: 'Changes', also: [] },
];
/** The matchmaker's own tables: agents, letters, ids. */
const expertPlaces: Place[] = [
  { path: 'pool', name: 'Matchmaker', also: [] },
  { path: 'ads', name: 'Ads', also: ['ad'] },
  { path: 'agents', name: 'Agents', also: [] },
];

const EXPERT = 'berth.expert';
const expert = storeMake(localStorage.getItem(EXPERT) === 'yes');
function expertTurn(): void {
  expert.set(!expert.get());
  localStorage.setItem(EXPERT, expert.get() ? 'yes' : 'no');
}

/** One view goes in one frame, and the next comes in another. */
function View({ at }: { at: Route }): JSX.Element | null {
  const [first = 'home', second, third] = at.path, kind = `${first}${second === undefined ? '' : '/'}`, [shown, setShown] = useState(kind);
  useLayoutEffect(() => (shown === kind ? undefined : inTurn(() => setShown(kind))), [kind, shown]);
  if (shown !== kind) return null;
  switch (first) {
    case 'home': return <HomeView query={at.query} />;
    case 'submit': return <SubmitView query={at.query} />;
    case 'jobs': return <JobsView query={at.query} />;
    case 'job': return <JobView key={`${second}/${third}`} desk={second ?? ''} id={third ?? ''} query={at.query} />;
    case 'workflows': return <WorkflowsView query={at.query} />;
    case 'workflow': return <WorkflowView key={`${second}/${third}`} desk={second ?? ''} id={third ?? ''} />;
    case 'machines': return second ? <MachineView key={second} name={second} /> : <MachinesView query={at.query} />;
    case 'users': return second ? <UserView key={second} name={second} /> : <UsersView />;
    case 'usage': return <UsageView query={at.query} />;
    case 'policy': return <PolicyView query={at.query} />;
    case 'config': return second ? <ConfigView key={second} name={second} /> : <ConfigsView />;
    case 'play': return <PlayView query={at.query} />;
    case 'audit': return <AuditView query={at.query} />;
    case 'pool': return <PoolView />;
    case 'ads': return <AdsView query={at.query} />;
    case 'ad': return <AdView key={second} id={second ?? ''} />;
    case 'agents': return <AgentsView />;
    default: return <><h1>Not there</h1><p>There is no such view. <a href="#/home">Home</a></p></>;
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

function Links({ of, here, label }: { of: Place[]; here: string; label?: string }): JSX.Element {
  return <ul aria-label={label}>{of.map(({ path, name, also }) => <li key={path}><a href={`#/${path}`} aria-current={here === path || also.includes(here) ? 'page' : undefined}>{name}</a></li>)}</ul>;
}

function Top(): JSX.Element {
  const at = useStore(route), who = useStore(session), look = useStore(theme), deep = useStore(expert), [open, setOpen] = useState(false);
  const here = at.path[0] ?? 'home', inside = expertPlaces.some(({ path, also }) => here === path || also.includes(here));
  useEffect(() => setOpen(false), [at]);
  return (
    <header class="top">
      <a class="brand" href="#/home">Berth</a>
      <button type="button" class="menu" aria-expanded={open} aria-controls="places" onClick={() => setOpen(!open)}>Menu</button>
      <nav id="places" class={open ? 'open' : ''} aria-label="Views">
        <Links of={places.filter(({ path, scope }) => !scope || here === path || scopeHas(who, scope) === true)} here={here} />
        {deep || inside ? <Links of={expertPlaces} here={here} label="For experts" /> : null}
        <div class="foot">
          <LinkState />
          {who.subject ? <span class="who">{who.subject}</span> : null}
          <button type="button" class="plain" aria-pressed={deep} title="The matchmaker’s own tables: ads, agents, matches and claims" onClick={expertTurn}>For experts: {deep ? 'shown' : 'hidden'}</button>
          <button type="button" class="plain" onClick={themeNext} aria-label={`Colours: ${themeWords[look]}. Change`}>Colours: {themeWords[look]}</button>
          <Keys />
          <button type="button" class="plain" onClick={() => sessionEnd()}>Sign out</button>
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
