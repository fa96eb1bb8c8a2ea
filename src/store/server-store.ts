/**
 * The store of a server: Postgres, with everything that only Postgres offers. Code outside this folder imports its types
 * from here, so that only the entry point knows the files behind it.
 */
export { HEARTBEAT_EVERY_MS, type ListedNode, type NodeIdentity } from './postgres/cluster/nodes.ts'
export type { Bottleneck, FinishedTask } from './postgres/insight/finished.ts'
export type { OverviewRead } from './postgres/insight/overview.ts'
export type { Found } from './postgres/insight/search.ts'
export type { Asked } from './postgres/insight/window.ts'
export type { LargeDetail } from './postgres/kernel/details.ts'
export type { BoardFilter } from './postgres/reads/board.ts'
export type { CardRow, LackingWork } from './postgres/reads/cards.ts'
export type { InboxFilter, InboxPlace, InboxRow } from './postgres/reads/inbox.ts'
export type { LogFilter } from './postgres/reads/logs.ts'
export type { StoredPlanTask } from './postgres/reads/missions.ts'
export type { EventWithTask } from './postgres/reads/reader.ts'
export type { ReportHead } from './postgres/reads/reports.ts'
export type { ListedRoutine, MissionFigures, RoutineMission } from './postgres/reads/routines.ts'
export type { TaskSearch } from './postgres/reads/task-search.ts'
export type { NamedRun, RunFilter } from './postgres/runs/run-reads.ts'
export type { MissionWork, OldWork, WorkspaceRepository } from './postgres/runs/work-reads.ts'
export type { PostgresStore as ServerStore } from './postgres/store.ts'
export type { AgentFilter, AgentSeen } from './postgres/workspaces/agents.ts'
export type {
  Browser,
  BrowserSession,
  NewSession,
  SessionKey,
} from './postgres/workspaces/browser-sessions.ts'
export type { ApiKey, KeyHolder } from './postgres/workspaces/keys.ts'
export type { Project, Track } from './postgres/workspaces/projects.ts'
export type { LinkRefused } from './postgres/workspaces/sign-in-links.ts'
export { FIRST_WORKSPACE } from './postgres/workspaces/workspaces.ts'
