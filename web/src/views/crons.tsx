// crons.tsx: one's jobs that come again by a schedule, as `berth cron` lists them: when each comes next, and what became of the last time.
import type { JSX } from 'preact';
import { api, type Cron } from '../api';
import { count, many, moment } from '../format';
import { useAct, useLoad } from '../hooks';
import { jobLink } from '../jobwords';
import { deskNews } from '../news';
import { Problem, Shown, Table, When } from '../ui';

/** What keeps it from coming, or kept its last time from having a job. */
function State({ of }: { of: Cron }): JSX.Element {
  const skipped = of.Skipped ? `${many(of.Skipped, 'time')} skipped` : '';
  return (
    <>
      {of.Held ? 'held' : of.Next === undefined ? 'never comes again' : moment(of.Next)}
      {of.Waits ? <small class="under">a time waits until the last job is over</small> : null}
      {skipped || of.Reason ? <small class="under">{[skipped, of.Reason].filter(Boolean).join(': ')}</small> : null}
    </>
  );
}

function Last({ desk, of }: { desk: string; of: Cron }): JSX.Element | null {
  if (of.Last === undefined || of.LastJob === undefined) return null;
  const jobs = of.LastCount === undefined || of.LastCount === 1 ? `job ${of.LastJob}` : `jobs ${of.LastJob}–${of.LastJob + of.LastCount - 1}`;
  return <><When at={of.Last} /><small class="under"><a href={jobLink(desk, of.LastJob)}>{jobs}</a>{of.LastState ? `, ${of.LastState}` : ''}</small></>;
}

export function Crons({ desk }: { desk: string }): JSX.Element {
  const rules = useLoad((signal) => api.crons(desk, signal), `crons ${desk}`, { of: deskNews(desk), least: 2000 });
  const turn = useAct(async (of: Cron) => {
    await api.cronTurn(desk, of.Cron, of.Held ? 'release' : 'hold');
    rules.again();
  });
  return (
    <>
      {turn.error ? <Problem error={turn.error} /> : null}
      <Shown of={rules}>
        {({ rows }) => (
          <Table label="Jobs that come again" rows={rows} id={(of) => String(of.Cron)} state={turn.busy} empty={<>Nothing comes again. <code>berth cron add '0 8 * * mon-fri' report.ad</code> lets a job come each weekday at eight.</>} columns={[
            { name: 'Rule', number: true, cell: (of) => String(of.Cron) },
            { name: 'Times', cell: (of) => <code>{of.Schedule}</code> },
            { name: 'Next', cell: (of) => <State of={of} /> },
            { name: 'Last', cell: (of) => <Last desk={desk} of={of} /> },
            { name: 'Came', number: true, cell: (of) => count(of.Runs) },
            { name: 'Owner', cell: (of) => of.Owner },
            { name: 'Change', cell: (of) => <button type="button" disabled={turn.busy} aria-label={`${of.Held ? 'Release' : 'Hold'} rule ${of.Cron}`} onClick={() => void turn.run(of)}>{of.Held ? 'Release' : 'Hold'}</button> },
          ]} />
        )}
      </Shown>
      <p class="note">Times are those of the customer’s host. <code>berth cron rm NUMBER</code> ends a rule; jobs that have come stay.</p>
    </>
  );
}
