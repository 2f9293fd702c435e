// again.ts: a job's ad as it could be submitted once more: without what its customer has added. A draft waits in the tab until the form takes it.
import { attributesOf, cut } from './adtext';

/* As src/live/customerd/job_ad.c has them, and what tells whose it was: a test holds them together. */
const told = new Set(
  ('Job Index State Since Submitted Started Ended Status Reason Tries Provider Pool Message Progress CpuUsed MemoryUsed DiskUsed WallUsed OutputsDue Request Workflow WaitsFor FilesToStore FilesStored FilesNotMade FilesLost Stored '
    + 'FilesMissing Missing OfferedIn CpusGiven MemoryGiven DiskGiven Outcome ExitCode Signal Claim Claiming Alike Rejected RejectedBy RejectedFor Matched Delivered BytesIn BytesOut Benchmark BytesRead BytesWritten Samples '
    + 'Members HoldCode HoldSubCode Suspended LastClaim LastNumber WaitsUntil TraceId PlannedStart PlannedMachine Owner Count Node After Dag Type').toLowerCase().split(' '),
);

export function adAgain(text: string): string {
  const kept = attributesOf(text).filter((attribute) => !told.has(attribute.name.trim().toLowerCase()));
  return `[ ${kept.map((attribute) => cut(text, attribute).trim()).join('; ')} ]`;
}

const KEY = 'berth.draft';

export const draftKeep = (text: string): void => sessionStorage.setItem(KEY, text);
export function draftTake(): string | null {
  const text = sessionStorage.getItem(KEY);
  sessionStorage.removeItem(KEY);
  return text;
}
