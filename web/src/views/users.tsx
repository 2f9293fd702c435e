// users.tsx: who has used how much, whose turn it is, and why; groups and limits.
import type { JSX } from 'preact';
import { api, type Limit, type User, type UserWhy } from '../api';
import { askFew } from '../few';
import { count, many, percent, real, span, spanSaid } from '../format';
import { useLoad, useTitle } from '../hooks';
import { poolNews } from '../news';
import { userClass } from '../people';
import { routeLink } from '../route';
import { scopeHas, session } from '../session';
import { useStore } from '../store';
import { Bar, type Column, Figure, Pager, Section, Shown, Table, Tag, usePaging } from '../ui';
import { holds } from '../words';
import { LimitAct } from './limit_act';

const PAGE = 20, SHORT = 5;
const userLink = (name: string): string => routeLink(['users', name]);

/* Machines and what else offers something have accounts, too, and are no users. */
const PEOPLE = '!regexp("^(.*~)?machine(/|$)", Name)';

type Placed = User & { why?: UserWhy };

/** A page of users, each with its place: the list alone does not say it. */
async function usersAsk(limit: number, cursor: string | undefined, signal: AbortSignal): Promise<{ rows: Placed[]; cursor: string | null }> {
  const { rows, cursor: next } = await api.users({ limit, cursor, constraint: PEOPLE }, signal);
  const whys = await askFew(rows, (user) => api.userWhy(user.Name, signal).catch(() => undefined));
  const users = rows.map((user, i): Placed => ({ ...user, why: whys[i] })).filter((user) => user.Usage >= 0.005 || user.Claims || !user.why || user.why.Requests);
  return { rows: users.sort((a, b) => (a.why?.Place || 1e9) - (b.why?.Place || 1e9) || a.Priority - b.Priority || (a.Name < b.Name ? -1 : 1)), cursor: next };
}

const placeColumn: Column<Placed> = { name: 'Place', number: true, cell: (user) => (user.why?.Place ? count(user.why.Place) : <span class="quiet">–</span>) };
const nameColumn: Column<Placed> = { name: 'User', cell: (user) => <span><span class={`swatch ${userClass(user.Name)}`} aria-hidden="true" /><a href={userLink(user.Name)}>{user.Name}</a></span> };
const waitColumn: Column<Placed> = { name: 'Waiting requests', number: true, cell: (user) => (user.why ? count(user.why.Requests) : '') };
const usageColumn: Column<Placed> = { name: 'Usage', number: true, cell: (user) => real(user.Usage) };
const laterColumn: Column<Placed> = { name: 'After a half-life', number: true, cell: (user) => (user.why ? real(user.why.UsageLater) : '') };

function shareColumn(rows: Placed[]): Column<Placed> {
  const all = rows.reduce((sum, user) => sum + user.Units, 0);
  return { name: 'Share now', number: true, cell: (user) => <>{all ? percent(user.Units / all) : '–'} <Bar part={all ? user.Units / all : 0} /></> };
}

/** A few of them, for the pool at a glance. */
export function UsersShort(): JSX.Element {
  const users = useLoad((signal) => usersAsk(SHORT, undefined, signal), 'short', { of: poolNews, least: 5000 });
  return (
    <Section title="Users">
      <Shown of={users}>
        {({ rows, cursor }) => (
          <>
            <Table label="Some users" rows={rows} id={(user) => user.Name} empty="Nobody has used anything yet." columns={[placeColumn, nameColumn, waitColumn, shareColumn(rows), usageColumn, laterColumn]} />
            {cursor ? <p><a href="#/users">All users</a></p> : null}
          </>
        )}
      </Shown>
    </Section>
  );
}

function Users(): JSX.Element {
  const paging = usePaging('users');
  const users = useLoad((signal) => usersAsk(PAGE, paging.cursor, signal), paging.cursor ?? 'first', { of: poolNews, least: 5000 });
  const halfLife = users.value?.rows.find((user) => user.why)?.why?.HalfLife;
  return (
    <Section title="Whose turn it is" note={<>The smallest priority is served first; it is what one uses now and has used lately, times a factor. A <em>unit</em> is what a job of one processor takes, and a usage of 3 means three units in use all the time. What was used counts half as much after each half-life{halfLife === undefined ? '' : <> (here {spanSaid(halfLife)})</>}: so who has waited long comes first.</>}>
      <Shown of={users}>
        {({ rows, cursor }) => (
          <>
            <Table label="Users" rows={rows} id={(user) => user.Name} empty={paging.page || cursor ? 'Nobody here has used anything lately.' : <>Whoever waits, runs something or has lately stands here, with whose turn it is. Nobody has yet. <a href="#/submit">Submit a job</a>: then you do.</>} columns={[
              placeColumn,
              nameColumn,
              waitColumn,
              shareColumn(rows),
              { name: 'Units', number: true, cell: (user) => real(user.Units) },
              { name: 'Claims', number: true, cell: (user) => count(user.Claims) },
              usageColumn,
              laterColumn,
              { name: 'Factor', number: true, cell: (user) => real(user.Factor) },
              { name: 'Priority', number: true, cell: (user) => real(user.Priority) },
            ]} />
            <Pager paging={paging} cursor={cursor} />
          </>
        )}
      </Shown>
    </Section>
  );
}

function GroupsAndLimits(): JSX.Element {
  const may = scopeHas(useStore(session), 'config') === true;
  const groups = useLoad((signal) => api.groups(signal), 'groups', { of: poolNews, least: 5000 }), limits = useLoad((signal) => api.limits(signal), 'limits', { of: poolNews, least: 5000 });
  return (
    <div class="columns">
      <Section title="Groups">
        <Shown of={groups}>
          {({ rows }) => (
            <Table label="Groups" rows={rows} most={25} id={(group) => group.Name} empty={<>Groups share the pool by quotas. None is set up: <code>berth users --help</code> and docs/shares.md say how.</>} columns={[
              { name: 'Group', cell: (group) => (group.Name === '<none>' ? 'outside of groups' : group.Name) },
              { name: 'In use', number: true, cell: (group) => real(group.Used) },
              { name: 'Quota', number: true, cell: (group) => <>{real(group.Quota)} <Bar part={group.Used / Math.max(group.Quota, 1e-9)} tone={group.Used > group.Quota ? 'warn' : undefined} /></> },
              { name: 'May have more', cell: (group) => (group.Surplus ? 'yes, what is left over' : 'no') },
            ]} />
          )}
        </Shown>
      </Section>
      <Section title="Limits">
        <Shown of={limits}>
          {({ rows }) => (
            <Table label="Limits" rows={rows} most={25} id={(limit) => limit.Name} empty={<>Limits say how many of something, such as licences, may be in use at a time. None is set: the file that the setting <code>Shares</code> names has them, and docs/shares.md says how.</>} columns={[
              { name: 'Limit', cell: (limit) => limit.Name },
              { name: 'In use', number: true, cell: (limit) => count(limit.Used) },
              { name: 'Most', number: true, cell: (limit) => (limit.Most === undefined ? 'any number' : <>{count(limit.Most)} <Bar part={limit.Used / Math.max(1, limit.Most)} tone={limit.Used >= limit.Most ? 'warn' : undefined} /></>) },
              ...(may ? [{ name: 'Change', cell: (limit: Limit) => <LimitAct limit={limit} done={limits.again} /> }] : []),
            ]} />
          )}
        </Shown>
      </Section>
    </div>
  );
}

export function UsersView(): JSX.Element {
  useTitle('Users');
  return (
    <>
      <h1>Users</h1>
      <Users />
      <GroupsAndLimits />
    </>
  );
}

function Place({ why }: { why: UserWhy }): JSX.Element {
  if (why.Place) return <p class="verdict"><Tag tone={why.Place === 1 ? 'good' : undefined}>number {why.Place} of {why.Places}</Tag> users who wait for an offer, with {many(why.Requests, 'request')}.</p>;
  return <p class="verdict">{why.Requests ? `Waits, but not for an offer, with ${many(why.Requests, 'request')}.` : 'Waits for nothing.'}</p>;
}

export function UserView({ name }: { name: string }): JSX.Element {
  const why = useLoad((signal) => api.userWhy(name, signal), name, { of: poolNews, least: 5000 });
  useTitle(`User ${name}`);
  return (
    <>
      <h1>User <span class="id">{name}</span></h1>
      <p><a href="#/users">All users</a></p>
      <Shown of={why}>
        {(of) => (
          <>
            <Place why={of} />
            <dl class="figures">
              <Figure name="Priority" value={real(of.Priority)} note="the smallest is first" />
              <Figure name="Usage" value={real(of.Usage)} note="units, lately" />
              <Figure name="In use now" value={real(of.Units)} note={many(of.Claims, 'claim')} />
              <Figure name="Factor" value={real(of.Factor)} />
              <Figure name="Half-life" value={span(of.HalfLife)} />
            </dl>
            <Section title="How it is reckoned">
              <p>Priority {real(of.Priority)} = factor {real(of.Factor)} × (usage {real(Math.max(0.5, of.Usage))} + {real(of.Units)} {of.Units === 1 ? 'unit' : 'units'} in use).{of.Usage < 0.5 ? ` A usage of ${real(of.Usage)} counts as 0.5: below that all users are alike.` : ''}</p>
              <p>What was used counts half after {spanSaid(of.HalfLife)}; with the claims of now the usage will be {real(of.UsageLater)} then.</p>
              {of.Group !== undefined ? <p>{of.Group === '<none>' ? 'Outside of groups' : `Group ${of.Group}`}: {real(of.GroupUnits ?? 0)} {of.Group === '<none>' ? 'of' : 'of its quota of'} {real(of.Quota ?? 0)} units in use, of a pool of {real(of.Pool ?? 0)}; {of.Surplus ? 'it may have more while nobody within a quota wants it' : 'it may not have more'}.</p> : null}
            </Section>
            {of.Holds.length ? <Section title="What its requests wait for"><ul class="reasons">{of.Holds.map((hold) => <li key={`${hold.Kind}${hold.Name}`}>{many(hold.Requests, 'request')} {holds[hold.Kind] ?? hold.Kind}{hold.Name ? ` (${hold.Name}` : ''}{hold.Name && hold.Most !== undefined ? `: ${real(hold.Used ?? 0)} of ${real(hold.Most)} in use)` : hold.Name ? ')' : ''}.</li>)}</ul></Section> : null}
            {of.Ahead.length ? (
              <Section title="Served before it, the nearest first">
                <Table label="Served before" rows={of.Ahead} id={(user) => user.Name} columns={[
                  { name: 'User', cell: (user) => <a href={userLink(user.Name)}>{user.Name}</a> },
                  { name: 'Priority', number: true, cell: (user) => real(user.Priority) },
                  { name: 'Factor', number: true, cell: (user) => real(user.Factor) },
                  { name: 'Usage', number: true, cell: (user) => real(user.Usage) },
                  { name: 'Units', number: true, cell: (user) => real(user.Units) },
                  { name: 'Because of', cell: (user) => (user.Group ? `group ${user.Group}` : 'priority') },
                ]} />
              </Section>
            ) : null}
            {of.AheadAfter !== undefined || of.AheadBelowFactor !== undefined ? (
              <Section title="What would change it">
                <ul class="reasons">
                  {of.AheadAfter !== undefined ? <li>If it used nothing from now on, it would be ahead of the nearest {of.AheadAfter < 1 ? 'at once' : `after ${spanSaid(of.AheadAfter)}`}.</li> : null}
                  {of.AheadBelowFactor !== undefined ? <li>With a factor below {real(of.AheadBelowFactor)} it would be ahead now.</li> : null}
                </ul>
              </Section>
            ) : null}
          </>
        )}
      </Shown>
    </>
  );
}
