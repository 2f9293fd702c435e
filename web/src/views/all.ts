// all.ts: all views but Home, which are fetched together.
export { MachinesView } from './machines';
export { MachineView } from './machine';
export { JobsView } from './jobs';
export { JobView } from './job';
export { WorkflowsView, WorkflowView } from './workflows';
export { SubmitView } from './submit';
export { UsersView, UserView } from './users';
export { UsageView } from './usage';
export { PolicyView } from './policy';
export { PlayView } from './play';
export { ConfigsView, ConfigView } from './config';
export { AuditView } from './audit';
export { PoolView } from './pool';
export { AdsView } from './ads';
export { AdView } from './ad';
export { AgentsView } from './agents';
