// words.ts: what the matchmaker's words mean to a person.
import type { OutcomeWord } from './api';

export const outcomes: Record<OutcomeWord, { name: string; note: string; tone?: 'good' | 'bad' | 'warn' }> = {
  nobody: { name: 'nobody fits', note: 'no offer suits them, as they are now', tone: 'bad' },
  held: { name: 'held by a limit or quota', note: 'something would fit, but they may not have it yet', tone: 'warn' },
  'gave-up': { name: 'gave up', note: 'the search was longer than its budget', tone: 'warn' },
  waiting: { name: 'not tried yet', note: 'their turn comes with the next cycles' },
  matched: { name: 'matched', note: 'something was given to them in their last try', tone: 'good' },
};

export const outcomeOrder: OutcomeWord[] = ['nobody', 'held', 'gave-up', 'waiting', 'matched'];

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
