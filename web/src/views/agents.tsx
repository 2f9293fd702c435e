// agents.tsx: who speaks with the matchmaker.
import type { JSX } from 'preact';
import { api } from '../api';
import { count, spanSaid } from '../format';
import { useLoad, useTitle } from '../hooks';
import { poolNews } from '../news';
import { Pager, Section, Shown, Table, Tag, usePaging } from '../ui';

const PAGE = 50;
const contacts: Record<string, ['good' | 'bad' | 'warn' | undefined, string]> = {
  good: ['good', 'can be called'], bad: ['bad', 'cannot be called'], checking: ['warn', 'being checked'], none: [undefined, 'by letters'],
};

export function AgentsView(): JSX.Element {
  const paging = usePaging('agents');
  const agents = useLoad((signal) => api.agents(PAGE, paging.cursor, signal), paging.cursor ?? 'first', { of: poolNews, least: 5000 });
  useTitle('Agents');
  return (
    <>
      <h1>Agents</h1>
      <Section title="The roster" note="Providers, customers, and whoever else has spoken with this matchmaker since it is up.">
        <Shown of={agents}>
          {({ rows, cursor }) => (
            <>
              <Table label="Agents" rows={rows} id={(agent) => agent.Agent} columns={[
                { name: 'Agent', cell: (agent) => agent.Name || <span class="quiet">no name</span> },
                { name: 'Identity', cell: (agent) => agent.Identity },
                { name: 'Host', cell: (agent) => agent.Host ?? '' },
                { name: 'Stream', cell: (agent) => (agent.Connected ? <Tag tone="good">open</Tag> : <Tag>closed</Tag>) },
                { name: 'Contact', cell: (agent) => { const [tone, text] = contacts[agent.ContactState ?? 'none'] ?? [undefined, agent.ContactState]; return <Tag tone={tone}>{text}</Tag>; } },
                { name: 'Ads', number: true, cell: (agent) => count(agent.Ads) },
                { name: 'Letters', number: true, cell: (agent) => count(agent.Letters) },
                { name: 'Last word', number: true, cell: (agent) => `${spanSaid(Math.ceil(agent.LastWord))} ago` },
                { name: 'Version', cell: (agent) => agent.Version ?? '' },
              ]} />
              <Pager paging={paging} cursor={cursor} />
            </>
          )}
        </Shown>
      </Section>
    </>
  );
}
