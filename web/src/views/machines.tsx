// machines.tsx: how each machine stands, whether or not it has room; and everything of one.
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { api, type Machine, type MachineClaim, type MachineCounts, type MachineState } from '../api';
import { bytes, clock, count, inLanguage, many, moment, real, span, spanSaid } from '../format';
import { useLoad, useTitle } from '../hooks';
import { live } from '../live';
import { adLink, routeLink } from '../route';
import { useStore } from '../store';
import { Bar, Choice, Code, Figure, Pager, Section, Shown, Table, Tag, usePaging } from '../ui';
import { machineStates } from '../words';

const PAGE = 50;
export const machineLink = (name: string): string => routeLink(['machines', name]);


/** The time of day in so many seconds; with the date when that is not today or tomorrow night. */
function timeIn(seconds: number): string {
  const at = Date.now() / 1000 + seconds + 2; // what comes at 20:00 is not called 19:59
  return seconds < 20 * 3600 ? clock(at).slice(0, 5) : moment(at).slice(0, 16);
}

function back(machine: Machine): string | undefined {
  return machine.State === 'Owner' && machine.Sure && machine.Until !== undefined ? timeIn(machine.Until) : undefined;
}

/** What there is to say of the state, in a few words. */
function note(machine: Machine): string {
  const opens = back(machine);
  if (opens) return `until ${opens}`;
  if (machine.State === 'Owner' || machine.State === 'Sick') return machine.Words ?? '';
  if (machine.State === 'Away') return `last heard ${spanSaid(machine.Heard)} ago`;
  if (machine.State === 'Busy' && machine.Ends !== undefined) return `first ends in ${spanSaid(machine.Ends)}`;
  return machine.Pulls && (machine.State === 'Idle' || machine.State === 'Part') ? 'pulls' : '';
}

export function StateTag({ state }: { state: MachineState }): JSX.Element {
  const [tone] = machineStates[state] ?? [];
  return <Tag tone={tone}>{state}</Tag>;
}

function Used({ all, used = 0, show }: { all?: number; used?: number; show: (n: number) => string }): JSX.Element | null {
  if (!all) return null;
  return <>{show(used)} of {show(all)} <Bar part={used / all} tone={used >= all ? 'warn' : 'good'} /></>;
}

function Totals({ of }: { of: MachineCounts }): JSX.Element {
  const states = (Object.keys(machineStates) as MachineState[]).filter((state) => of[state]);
  return (
    <dl class="figures">
      <Figure name="Machines" value={count(of.Known)} note={states.map((state) => `${count(of[state])} ${state}`).join(', ')} />
      <Figure name="Processors in use" value={`${real(of.CpusUsed)} of ${real(of.Cpus)}`} />
      <Figure name="Memory in use" value={`${bytes(of.MemoryUsed)} of ${bytes(of.Memory)}`} />
      {of.GpuCount ? <Figure name="GPUs in use" value={`${real(of.GpusUsed)} of ${real(of.GpuCount)}`} /> : null}
    </dl>
  );
}

type Pick = 'all' | MachineState;
const picks: [Pick, string][] = [['all', 'All'], ...(Object.keys(machineStates) as MachineState[]).map((state): [Pick, string] => [state, state])];

export function MachinesView(): JSX.Element {
  const [pick, setPick] = useState<Pick>('all');
  const paging = usePaging(pick), counts = useStore(live).overview?.Machines;
  const constraint = `Type == "Machine"${pick === 'all' ? '' : ` && State == "${pick}"`}`;
  const machines = useLoad((signal) => api.machines({ constraint, limit: PAGE, cursor: paging.cursor, order: 'name' }, signal), `${pick} ${paging.cursor ?? 'first'}`, 5000);
  useTitle('Machines');
  return (
    <>
      <h1>Machines</h1>
      {counts ? <Totals of={counts} /> : null}
      <Section title="How they stand" note="Whether or not they have room. What machines that are away have is not counted above."
        side={<Choice label="State" of={picks} value={pick} pick={setPick} />}>
        <Shown of={machines}>
          {({ rows, cursor }) => (
            <>
              <Table label="Machines" rows={rows} id={(machine) => machine.Agent + machine.Id}
                empty={pick === 'all' ? 'No machine is known yet. Those that were there before a restart are heard of again within minutes.' : 'No machine stands so.'} columns={[
                  { name: 'Machine', cell: (machine) => <a href={machineLink(machine.Name)}>{machine.Name}</a> },
                  { name: 'State', cell: (machine) => <StateTag state={machine.State} /> },
                  { name: 'Processors', number: true, cell: (machine) => <Used all={machine.Cpus} used={machine.CpusUsed} show={real} /> },
                  { name: 'Memory', number: true, cell: (machine) => <Used all={machine.Memory} used={machine.MemoryUsed} show={bytes} /> },
                  { name: 'GPUs', number: true, cell: (machine) => <Used all={machine.GpuCount} used={machine.GpusUsed} show={real} /> },
                  { name: 'Load', number: true, cell: (machine) => (machine.LoadAvg === undefined ? '' : machine.LoadAvg.toFixed(1)) },
                  { name: 'Jobs', number: true, cell: (machine) => count(machine.Jobs) },
                  { name: 'Since', number: true, cell: (machine) => span(machine.Since) },
                  { name: 'Note', cell: (machine) => note(machine) },
                ]} />
              <Pager paging={paging} cursor={cursor} />
            </>
          )}
        </Shown>
      </Section>
    </>
  );
}

/* ------------------------------------------------------------------------------------------------------- one of them */

function policyNow(machine: Machine): string {
  const opens = back(machine);
  if (opens) return `lets nobody in until ${opens}`;
  if (machine.State === 'Owner') return 'lets nobody in now; nothing says until when';
  if (machine.Closes !== undefined) return `lets jobs in until ${timeIn(machine.Closes)}`;
  return ['Idle', 'Part', 'Busy'].includes(machine.State) ? 'lets jobs in, at any time' : '';
}

function Jobs({ machine }: { machine: Machine }): JSX.Element {
  const known = machine.Claims ?? [], others = machine.Jobs - (machine.Elsewhere ?? 0) - known.length;
  return (
    <Section title="Jobs">
      <Table label="Jobs there" rows={known} id={(claim: MachineClaim) => claim.Claim} empty={machine.Jobs ? 'None of yours.' : 'None.'} columns={[
        { name: 'Job', cell: (claim) => (claim.Job === undefined ? claim.Claim : count(claim.Job)) },
        { name: 'Owner', cell: (claim) => claim.Owner ?? '' },
        { name: 'Has held its part for', number: true, cell: (claim) => (claim.Age === undefined ? '' : span(claim.Age)) },
        { name: 'Must end in', number: true, cell: (claim) => (claim.Ends === undefined ? <span class="quiet">no time limit</span> : span(claim.Ends)) },
      ]} />
      {others > 0 ? <p>{many(others, 'job')} of others.</p> : null}
      {machine.Elsewhere ? <p>{many(machine.Elsewhere, 'job')} of other pools.</p> : null}
    </Section>
  );
}

function Facts({ machine }: { machine: Machine }): JSX.Element {
  const [, means] = machineStates[machine.State] ?? [], policy = policyNow(machine), opens = back(machine);
  const fact = (name: string, value: JSX.Element | string | null): JSX.Element | null => (value ? <div><dt>{name}</dt><dd>{value}</dd></div> : null);
  return (
    <dl class="facts">
      <div><dt>State</dt><dd><StateTag state={machine.State} /> {opens ? `back at ${opens}` : note(machine)}</dd></div>
      {fact('That is', means ?? '')}
      {fact('Since', `${spanSaid(machine.Since)} ago`)}
      {fact('Last word', `${spanSaid(machine.Heard)} ago`)}
      {machine.State === 'Owner' && opens ? fact('Why', machine.Words ?? '') : null}
      {fact('Processors', <Used all={machine.Cpus} used={machine.CpusUsed} show={real} />)}
      {fact('Memory', <Used all={machine.Memory} used={machine.MemoryUsed} show={bytes} />)}
      {fact('Disk', <Used all={machine.Disk} used={machine.DiskUsed} show={bytes} />)}
      {machine.GpuCount ? fact('GPUs', <Used all={machine.GpuCount} used={machine.GpusUsed} show={real} />) : null}
      {machine.LoadAvg === undefined ? null : fact('Load', machine.LoadAvg.toFixed(1))}
      {fact('Owner', machine.Owner ?? '')}
      {fact('Its policy', policy)}
      {fact('Gets work', machine.Pulls ? 'it asks for it by itself (pulls)' : 'its matchmaker offers it')}
      {machine.State === 'Idle' && !machine.Pulls ? fact('Its offer', <a href={adLink(machine.Id)}>{machine.Id}</a>) : null}
    </dl>
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
  const machine = useLoad((signal) => api.machine(name, signal), name, 5000);
  useTitle(name);
  return (
    <>
      <h1>{name}</h1>
      <p><a href="#/machines">All machines</a></p>
      <Shown of={machine}>
        {(value) => (
          <>
            <Facts machine={value} />
            <Jobs machine={value} />
            <Ad machine={value} />
          </>
        )}
      </Shown>
    </>
  );
}
