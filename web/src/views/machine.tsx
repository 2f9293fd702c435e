// machine.tsx: everything of one machine: whose jobs it runs, its policy as it stands, what it is; for its owner and administrators, drained and resumed.
import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { api, type Claim, type Machine, type MachineClaim, type MachinePart } from '../api';
import { bytes, clock, count, inLanguage, many, real, span as spanAlone, spanSaid } from '../format';
import { useLoad, useSteps, useTitle, useWidth } from '../hooks';
import { poolNews } from '../news';
import { userClass } from '../people';
import { adLink, routeGo } from '../route';
import { Code, Problem, Section, Shown, Table, When } from '../ui';
import { machineStates } from '../words';
import { useMachineAct, type MachineVerb } from './machine_act';
import { back, Cells, note, partsOf, StateTag, timeIn, Used } from './machines';

function policyNow(machine: Machine): string {
  const opens = back(machine);
  if (opens) return `lets nobody in until ${opens}`;
  if (machine.State === 'Owner') return 'lets nobody in now; nothing says until when';
  if (machine.Closes !== undefined) return `lets jobs in until ${timeIn(machine.Closes)}`;
  return ['Idle', 'Part', 'Busy'].includes(machine.State) ? 'lets jobs in, at any time' : '';
}

const amounts = (of: MachinePart): string => [of.Cpus === undefined ? '' : many(of.Cpus, 'processor'), of.Memory === undefined ? '' : bytes(of.Memory), of.GpuCount ? many(of.GpuCount, 'GPU') : ''].filter(Boolean).join(', ');
const whose = (user: string | undefined): JSX.Element => <span><span class={`swatch ${userClass(user)}`} aria-hidden="true" /> {user ?? 'not known'}</span>;

/** Jobs of one's own with their numbers; of all, whose they are and what they have. */
function Jobs({ machine }: { machine: Machine }): JSX.Element {
  const known = machine.Claims ?? [], parts = partsOf(machine), all = known.length >= parts.length;
  return (
    <Section title="Jobs" note={all ? undefined : 'Of jobs of others you see whose they are and what they have.'}>
      {all ? (
        <Table label="Jobs there" rows={known} id={(claim: MachineClaim) => claim.Claim} empty={machine.Jobs ? 'Its jobs are those of other pools.' : 'None now.'} columns={[
          { name: 'Job', cell: (claim) => (claim.Job === undefined ? '' : count(claim.Job)) },
          { name: 'Owner', cell: (claim) => whose(claim.Owner) },
          { name: 'Has', cell: (claim) => amounts(parts[known.indexOf(claim)] ?? claim) },
          { name: 'Has held its part for', number: true, cell: (claim) => (claim.Age === undefined ? '' : spanAlone(claim.Age)) },
          { name: 'Must end in', number: true, cell: (claim) => (claim.Ends === undefined ? <span class="quiet">no time limit</span> : spanAlone(claim.Ends)) },
        ]} />
      ) : (
        <>
          {known.length ? <p>Yours: {known.map((claim) => (claim.Job === undefined ? 'one' : `job ${claim.Job}`)).join(', ')}.</p> : null}
          <Table label="Jobs there" rows={parts.map((part, place) => ({ ...part, place }))} id={(part) => String(part.place)} columns={[
            { name: 'Owner', cell: (part) => whose(part.User) },
            { name: 'Has', cell: (part) => amounts(part) },
          ]} />
        </>
      )}
      {machine.Elsewhere ? <p>{many(machine.Elsewhere, 'job')} of other pools.</p> : null}
    </Section>
  );
}

interface Stay {
  claim: Claim;
  from: number; // seconds ago
  to: number;
  lane: number;
}

const DAY = 86400, STAYS_MOST = 1000, LANE = 14, LANES_MOST = 40, USERS_MOST = 24;

/** Claims of the last day, those at the same time in lanes of their own. */
function* staysSteps(claims: Claim[]): Generator<void, Stay[]> {
  const stays = claims.filter((claim) => claim.Age !== undefined && claim.State !== 'expected').map((claim): Stay => ({ claim, from: claim.Age!, to: claim.State === 'active' ? 0 : Math.max(0, claim.Age! - claim.Used), lane: 0 }))
    .filter((stay) => stay.to < DAY).sort((a, b) => b.from - a.from);
  const free: number[] = [];
  for (const [i, stay] of stays.entries()) {
    const lane = free.findIndex((until) => until >= stay.from);
    stay.lane = lane < 0 ? free.length : lane;
    free[stay.lane] = stay.to;
    if (i % 100 === 99) yield;
  }
  return stays;
}

const saidOf = (stay: Stay): string => `${stay.claim.Owner ?? 'nobody known'}: from ${clock(Date.now() / 1000 - stay.from).slice(0, 5)}, ${spanAlone(stay.from - stay.to)}${stay.to ? (stay.claim.Reason ? `, ${stay.claim.Reason}` : '') : ', still'}`;

/** A path for each user's claims: however many there are, few things are drawn. What lies under the pointer, or where the arrow keys have gone, is said. */
function Plot({ stays }: { stays: Stay[] }): JSX.Element {
  const { of, width } = useWidth(), [spot, setSpot] = useState<number | null>(null);
  const span = Math.min(DAY, Math.max(3600, ...stays.map((stay) => stay.from))), lanes = Math.min(LANES_MOST, Math.max(...stays.map((stay) => stay.lane)) + 1), height = lanes * LANE + 24;
  const x = (ago: number): number => Math.max(0, Math.round((1 - ago / span) * width)), now = Date.now() / 1000, ends = (stay: Stay): number => Math.max(x(stay.from) + 2, x(stay.to));
  const paths = useMemo(() => {
    const made = new Map<string, string>();
    for (const stay of stays) if (stay.lane < lanes) made.set(userClass(stay.claim.Owner), `${made.get(userClass(stay.claim.Owner)) ?? ''}M${x(stay.from)},${stay.lane * LANE + 2}H${ends(stay)}v${LANE - 3}H${x(stay.from)}z`);
    return [...made];
  }, [stays, width]);
  const at = spot === null ? undefined : stays[spot];
  const point = (event: PointerEvent, box: DOMRect): void => {
    const place = stays.findIndex((stay) => stay.lane === Math.floor((event.clientY - box.top) / LANE) && event.clientX - box.left >= x(stay.from) && event.clientX - box.left <= ends(stay));
    setSpot(place < 0 ? null : place);
  };
  const move = (by: number): void => setSpot((old) => Math.max(0, Math.min(stays.length - 1, (old ?? (by > 0 ? -1 : stays.length)) + by)));
  return (
    <figure class="chart">
      <figcaption><strong>{many(stays.length, 'claim')}</strong> <span class="said">{at ? saidOf(at) : ''}</span></figcaption>
      <div ref={of} class="plot" role="img" tabIndex={0} aria-label={`${many(stays.length, 'claim')} in the last ${spanSaid(span)}${at ? `; ${saidOf(at)}` : ''}. Arrow keys read them one by one.`} style={{ minHeight: `${height}px` }}
        onKeyDown={(event) => { if (event.key === 'ArrowLeft' || event.key === 'ArrowRight') { move(event.key === 'ArrowLeft' ? -1 : 1); event.preventDefault(); } }} onBlur={() => setSpot(null)}>
        {width ? (
          <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true" onPointerMove={(event) => point(event, event.currentTarget.getBoundingClientRect())} onPointerLeave={() => setSpot(null)}>
            {paths.map(([tone, d]) => <path key={tone} class={tone} d={d} />)}
            {at ? <path class="spot" fill="none" d={`M${x(at.from)},${at.lane * LANE + 2}H${ends(at)}v${LANE - 3}H${x(at.from)}z`} /> : null}
            {[0, 0.25, 0.5, 0.75, 1].map((part) => <text key={part} x={Math.min(width - 22, Math.max(22, part * width))} y={height - 6} text-anchor="middle">{clock(now - (1 - part) * span).slice(0, 5)}</text>)}
          </svg>
        ) : null}
      </div>
    </figure>
  );
}

/** When parts of it were claimed in the last day: for its owner and administrators; others see their own. */
function Day({ machine }: { machine: Machine }): JSX.Element | null {
  const owner = machine.Owner ?? '';
  const found = useLoad((signal) => api.claimsAt(owner, STAYS_MOST, signal), owner ? `claims ${owner}` : null, { of: poolNews, least: 10_000 });
  const stays = useSteps(() => staysSteps(found.value?.rows ?? []), [found.value]) ?? [], users = [...new Set(stays.map((stay) => stay.claim.Owner))];
  if (!owner || !found.value) return null;
  if (!stays.length) return found.value.rows.length ? null : <Section title="The last day"><p class="empty">Here is drawn when parts of it were claimed, and whose. None was, as far as the matchmaker remembers and you may see.</p></Section>;
  return (
    <Section title="The last day" note="When parts of it were claimed, as far as the matchmaker remembers.">
      <Plot stays={stays} />
      <ul class="legend">{users.slice(0, USERS_MOST).map((user) => <li key={user}><span class={`swatch ${userClass(user)}`} aria-hidden="true" />{user ?? 'not known'}</li>)}{users.length > USERS_MOST ? <li class="quiet">and {many(users.length - USERS_MOST, 'more user')}</li> : null}</ul>
    </Section>
  );
}

function Facts({ machine }: { machine: Machine }): JSX.Element {
  const [, means] = machineStates[machine.State] ?? [], policy = policyNow(machine), opens = back(machine), now = Date.now() / 1000;
  const fact = (name: string, value: JSX.Element | string | null): JSX.Element | null => (value ? <div><dt>{name}</dt><dd>{value}</dd></div> : null);
  return (
    <dl class="facts">
      <div><dt>State</dt><dd><StateTag state={machine.State} /> {opens ? `back at ${opens}` : note(machine)}</dd></div>
      {fact('That is', means ?? '')}
      {fact('Since', <When at={now - machine.Since} />)}
      {fact('Last word', <When at={now - machine.Heard} />)}
      {machine.State === 'Owner' && opens ? fact('Why', machine.Words ?? '') : null}
      {fact('Processors', <><Used all={machine.Cpus} used={machine.CpusUsed} show={real} /> <Cells machine={machine} /></>)}
      {fact('Memory', <Used all={machine.Memory} used={machine.MemoryUsed} show={bytes} />)}
      {fact('Disk', <Used all={machine.Disk} used={machine.DiskUsed} show={bytes} />)}
      {machine.GpuCount ? fact('GPUs', <Used all={machine.GpuCount} used={machine.GpusUsed} show={real} />) : null}
      {machine.LoadAvg === undefined ? null : fact('Load', machine.LoadAvg.toFixed(1))}
      {fact('Owner', machine.Owner ?? '')}
      {fact('Its policy', policy)}
      {fact('Gets work', machine.Pulls ? 'it asks for it by itself (pulls)' : 'its matchmaker offers it')}
      {machine.State === 'Idle' && !machine.Pulls ? fact('Its offer', <a href={adLink(machine.Id)}>see whom it accepts</a>) : null}
    </dl>
  );
}

function Acts({ machine, done }: { machine: Machine; done: () => void }): JSX.Element | null {
  const act = useMachineAct(machine), drained = machine.State === 'Drained';
  if (!act.may) return null;
  const go = (verb: MachineVerb): void => void act.run(verb).then((said) => (said && verb === 'forget' ? routeGo('#/machines') : done()));
  return (
    <>
      <div class="row">
        <button type="button" disabled={act.busy || drained || machine.State === 'Away'} title="Jobs that run there end by themselves; no others begin" onClick={() => go('drain')}>Drain</button>
        <button type="button" disabled={act.busy || !drained} onClick={() => go('resume')}>Resume</button>
        {machine.State === 'Away' ? <button type="button" disabled={act.busy} title="It is listed no more, until it is heard of again" onClick={() => go('forget')}>Forget</button> : null}
        <span role="status" class="quiet">{act.busy ? 'Waiting for the machine …' : act.value ?? ''}</span>
      </div>
      <Problem error={act.error} />
    </>
  );
}

function Ad({ machine }: { machine: Machine }): JSX.Element | null {
  if (!machine.Ad) return null;
  const hidden = machine.Ad.ShowPolicy === false && machine.Ad.Constraint === undefined;
  return (
    <Section title="What it is" note={hidden ? 'With nothing given away. Its owner does not show whom it takes.' : 'Its ad, with nothing given away.'}>
      <Code text={Object.entries(machine.Ad).map(([name, value]) => `${name} = ${inLanguage(value)}`).join('\n')} />
    </Section>
  );
}

export function MachineView({ name }: { name: string }): JSX.Element {
  const machine = useLoad((signal) => api.machine(name, signal), name, { of: poolNews });
  useTitle(name);
  return (
    <>
      <h1>{name} {machine.value ? <StateTag state={machine.value.State} /> : null}</h1>
      <p><a href="#/machines">All machines</a></p>
      <Shown of={machine}>
        {(value) => (
          <>
            <Acts machine={value} done={machine.again} />
            <Facts machine={value} />
            <Jobs machine={value} />
            <Day machine={value} />
            <Ad machine={value} />
          </>
        )}
      </Shown>
    </>
  );
}
