// desks.tsx: the customers that one's jobs are at, and which of them is looked at.
import type { ComponentChildren, JSX } from 'preact';
import { api, type Agent, type Desk } from './api';
import { useLoad } from './hooks';
import { poolNews } from './news';
import { session } from './session';
import { useStore } from './store';
import { Shown } from './ui';
import { customerless } from './words';

/** The customer that the address names; else one's own; else the first. */
export function deskOf(all: Desk[], named: string | null, subject: string | undefined): Desk | undefined {
  return all.find((one) => one.Agent === named) ?? all.find((one) => one.Identity === subject) ?? all[0];
}

export function useDesks(): ReturnType<typeof useLoad<Desk[]>> {
  return useLoad((signal) => api.desks(signal), 'desks');
}

/** There is no customer to go to: why, and what to do. */
function Customerless({ subject }: { subject: string }): JSX.Element {
  const customers = useLoad((signal) => api.customers(signal), 'customers', { of: poolNews, least: 5000 });
  return (
    <Shown of={customers}>
      {({ rows }: { rows: Agent[] }) => {
        const { why, steps } = customerless(subject, rows);
        return (
          <>
            <p>{why}</p>
            {steps.length ? <ul>{steps.map(({ where, command }) => <li key={command}>{where}: <code>{command}</code></li>)}</ul> : null}
            <p class="quiet">A customer of somebody else can be used if its token has the scope <code>serve</code>: <code>berth token code --customer NAME --serve</code> makes a code for such a one.</p>
          </>
        );
      }}
    </Shown>
  );
}

/** What is to be seen at a customer; where there are several, which of them. */
export function AtDesk({ named, pick, children }: { named: string | null; pick: (desk: string) => void; children: (desk: Desk) => ComponentChildren }): JSX.Element {
  const desks = useDesks(), { subject } = useStore(session);
  return (
    <Shown of={desks}>
      {(all) => {
        const desk = deskOf(all, named, subject);
        if (!desk) return <Customerless subject={subject ?? ''} />;
        return (
          <>
            {all.length > 1 ? (
              <p class="row"><label>Customer{' '}
                <select value={desk.Agent} onChange={(event) => pick(event.currentTarget.value)}>
                  {all.map((one) => <option key={one.Agent} value={one.Agent}>{one.Name} ({one.Identity})</option>)}
                </select>
              </label></p>
            ) : null}
            {children(desk)}
          </>
        );
      }}
    </Shown>
  );
}
