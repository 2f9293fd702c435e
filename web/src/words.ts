// words.ts: what the matchmaker's words mean to a person.
import type { Agent, MachineState, OutcomeWord } from './api';
import type { Tone } from './ui';

export const outcomes: Record<OutcomeWord, { name: string; note: string; tone?: Tone }> = {
  nobody: { name: 'nobody fits', note: 'no offer suits them, as they are now' },
  held: { name: 'held by a limit or quota', note: 'something would fit, but they may not have it yet' },
  'gave-up': { name: 'gave up', note: 'the search was longer than its budget', tone: 'warn' },
  waiting: { name: 'not tried yet', note: 'their turn comes with the next cycles' },
  matched: { name: 'matched', note: 'something was given to them in their last try', tone: 'good' },
};

export const outcomeOrder: OutcomeWord[] = ['nobody', 'held', 'gave-up', 'waiting', 'matched'];

/** How a machine stands: its tone, and what it means. A test holds them against src/pool/protocol/machine_state.h. */
export const machineStates: Record<MachineState, [Tone | undefined, string]> = {
  Idle: [undefined, 'nothing of it is in use'],
  Part: ['now', 'a part of it is in use, and the rest may be had'],
  Busy: ['now', 'what is left of it accepts nobody'],
  Owner: [undefined, 'its owner lets nobody in now, whether or not it is idle'],
  Drained: ['warn', 'it was told to take no more'],
  Sick: ['bad', 'it cannot run jobs now'],
  Away: ['warn', 'nothing has been heard of it for a lifetime'],
};

/** How a job ended, by its Outcome: the words of `berth jobs`. A test holds them against src/live/customerd/job_outcome.h. */
export const jobOutcomes: Record<string, string> = {
  Succeeded: 'Succeeded',
  Failed: 'Failed',
  OutOfMemory: 'Out of memory',
  OutOfTime: 'Out of time',
  OutOfDisk: 'Out of disk',
  Killed: 'Killed',
  Removed: 'Removed',
  Expired: 'Expired',
};

/** Why there is no customer that a person may use here, of those that the matchmaker knows, and what to type, where. */
export function customerless(subject: string, customers: Pick<Agent, 'Identity' | 'Name' | 'Host' | 'Contact' | 'ContactState'>[]): { why: string; steps: { where: string; command: string }[] } {
  const own = customers.find((one) => subject === one.Identity || subject.startsWith(`${one.Identity}/`));
  const host = own?.Host ?? 'its machine';
  if (own?.ContactState === 'checking') return { why: `Your customer ${own.Name} has just come: the matchmaker is about to call it.`, steps: [] };
  if (own?.Contact)
    return {
      why: `The matchmaker cannot call your customer ${own.Name} at ${own.Contact}. Open that port to the matchmaker, or name another address in CustomerListen on ${host}. Your jobs are there, and run; until the page reaches them:`,
      steps: [{ where: `on ${host}`, command: 'berth jobs' }],
    };
  if (own) return { why: `Your customer ${own.Name} listens nowhere, as CustomerListen on ${host} says: so the page cannot reach it. Your jobs are there, and run:`, steps: [{ where: `on ${host}`, command: 'berth jobs' }] };
  return {
    why: customers.length
      ? `The customers here are those of others, and serve nobody else: ${customers.map((one) => `${one.Name} (${one.Identity})`).join(', ')}. For one of your own:`
      : 'No customer has come to this pool yet. A customer keeps your jobs and their files, on the machine that you work at:',
    steps: [
      { where: 'where the matchmaker runs', command: `berth token code --customer ${subject || 'NAME'}` },
      { where: 'on the machine that you work at', command: 'berth join CODE' },
    ],
  };
}

/** Why requests wait, by the code of the reason: those for which somebody must do something. An orderly queue is not among them. */
export const mendable: Record<string, { tone: Tone; act: string }> = {
  refused: { tone: 'bad', act: 'Look at it' },
  never: { tone: 'bad', act: 'See what it asks for' },
  nofit: { tone: 'warn', act: 'See what would help' },
  refuses: { tone: 'warn', act: 'See who refuses it' },
  discarded: { tone: 'warn', act: 'See why' },
  away: { tone: 'warn', act: 'See why' },
  sick: { tone: 'warn', act: 'See why' },
  drained: { tone: 'warn', act: 'See why' },
  port: { tone: 'warn', act: 'Look at that port' },
  forms: { tone: 'warn', act: 'Look at its ports' },
  gaveup: { tone: 'warn', act: 'Look at its ports' },
};

export const verdicts: Record<string, string> = {
  matches: 'It matches.',
  'not-now': 'It matches nothing now.',
  never: 'It can never match, whatever the pool holds.',
};

export const gangVerdicts: Record<string, string> = {
  matches: 'There is a gang for it.',
  'not-now': 'There is no gang for it now.',
  never: 'There can never be a gang for it, whatever the pool holds.',
  'gave-up': 'The search ran out of its budget: whether there is a gang is not known.',
};

export const cases: Record<string, string> = {
  taken: 'There are requests that match it.',
  'nobody-asks': 'Nobody asks for anything.',
  unwanted: 'Nobody who asks wants it.',
  'refuses-all-present': 'It refuses all who ask now.',
  'refuses-everybody': 'It refuses everybody, whoever asks.',
};

export const holds: Record<string, string> = {
  quota: 'wait: the group is at its quota',
  limit: 'wait for a limit',
  never: 'ask for more than there is',
  learns: 'wait until the matchmaker knows what is in use',
  'no-group': 'name a group that does not exist; they are charged outside of groups',
  'not-his': 'name a group that is not for this user; they are charged outside of groups',
};
