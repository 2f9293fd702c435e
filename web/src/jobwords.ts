// jobwords.ts: how jobs and submissions are said and led to, the same in all views.
import type { Job, Submission, Value } from './api';
import { inCell, plannedSaid } from './format';
import { routeLink } from './route';
import type { Tone } from './ui';
import { jobOutcomes } from './words';

export const jobLink = (desk: string, id: number | string): string => routeLink(['job', desk, String(id)]);
export const workflowLink = (desk: string, id: number | string): string => routeLink(['workflow', desk, String(id)]);

export const over = (state: string): boolean => ['Done', 'Cleared', 'Aborted', 'Cancelled'].includes(state);
/** Ended, and not well. */
export const failed = (job: Job): boolean => over(job.State) && job.Outcome !== 'Succeeded' && job.Outcome !== 'Removed';

/** How it stands, in the words of `berth jobs`: how it ended, if it is over, else its state. */
export function standing(job: Job): string {
  const words = job.Outcome === undefined ? undefined : jobOutcomes[job.Outcome];
  if (!words) return job.State;
  return job.ExitCode ? `${words} (exit ${job.ExitCode})` : job.Signal ? `${words} (signal ${job.Signal})` : words;
}

/** When and where a job that waits for room is planned to begin. */
export function plannedOf(job: Job): string | undefined {
  const now = Date.now() / 1000;
  if (job.State !== 'Waiting' || job.PlannedStart === undefined) return undefined;
  return `planned for about ${plannedSaid(job.PlannedStart - now, now)}${job.PlannedMachine ? ` on ${job.PlannedMachine}` : ''}`;
}

const tones: Record<string, Tone | undefined> = { Ready: 'now', Scheduled: 'now', Running: 'now', Held: 'warn', Succeeded: 'good' };
export const tone = (job: Job): Tone | undefined => (failed(job) ? 'bad' : tones[job.Outcome ?? job.State]);

/** As one would type it. */
const shellWord = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);
export const commandOf = (cmd: Value | undefined, args: Value | undefined): string =>
  [inCell(cmd), ...(Array.isArray(args) ? args.map((arg) => shellWord(inCell(arg))) : args ? [inCell(args)] : [])].join(' ');
export const command = (job: Job): string => commandOf(job.Cmd, job.Args);

/** The parts of a submission by how they stand, those that are over first. */
export const partsOf = (of: Submission): { part: number; tone: string; words: string }[] => [
  { part: of.Succeeded, tone: 'good', words: 'succeeded' }, { part: of.Failed, tone: 'bad', words: 'failed' }, { part: of.Removed, tone: 'gone', words: 'removed' },
  { part: of.Running, tone: 'now', words: 'running' }, { part: of.Held, tone: 'warn', words: 'held' }, { part: of.Waiting, tone: 'wait', words: 'waiting' },
];
