/**
 * The store of a server: Postgres, with everything that only Postgres offers. Code outside this folder imports its types
 * from here, so that only the entry point knows the files behind it.
 */

export type { AgentFilter, AgentSeen } from '../kinds/agent/postgres/agents.ts'
export type { ApiKey } from '../kinds/key/postgres.ts'
export type { StoredPlanTask } from '../kinds/mission/postgres/reads.ts'
export type { Project } from '../kinds/project/postgres.ts'
export type { ReportHead } from '../kinds/report/postgres.ts'
export type { ListedRoutine, MissionFigures, RoutineMission } from '../kinds/routine/postgres.ts'
export type { NamedRun, RunFilter } from '../kinds/run/postgres/run-reads.ts'
export type { MissionWork, OldWork, WorkspaceRepository } from '../kinds/run/postgres/work-reads.ts'
export type { BrowserSession, SessionKey } from '../kinds/sign-in/postgres.ts'
export type { LargeDetail } from '../kinds/task/postgres/details.ts'
export type { EventWithTask } from '../kinds/task/postgres/reader.ts'
export type { TaskSearch } from '../kinds/task/postgres/search.ts'
export { FIRST_WORKSPACE } from '../kinds/workspace/postgres.ts'
export { HEARTBEAT_EVERY_MS, type ListedNode, type NodeIdentity } from '../postgres/cluster/nodes.ts'
export type { PostgresStore as ServerStore } from '../store/store.ts'
export type { BoardFilter } from '../views/board/postgres/board.ts'
export type { CardRow, LackingWork } from '../views/board/postgres/cards.ts'
export type { InboxFilter, InboxPlace, InboxRow } from '../views/inbox/postgres.ts'
export type { Bottleneck, FinishedTask } from '../views/insight/postgres/finished.ts'
export type { Found } from '../views/insight/postgres/search.ts'
export type { Asked } from '../views/insight/postgres/window.ts'
export type { LogFilter } from '../views/logs/postgres.ts'
export type { OverviewRead } from '../views/overview/postgres.ts'
