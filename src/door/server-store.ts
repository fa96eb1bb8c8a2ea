import type { Changes, View } from '../kernel/batch/requests.ts'
import type { NodeMessage, OnNodeMessage } from '../kernel/store/node-messages.ts'
import type { RunStore } from '../kernel/store/run-store.ts'
import type { ServerStep } from '../kernel/store/store.ts'
import type { AgentSeen } from '../kinds/agent/record.ts'
import type { RunsChanges, RunsView } from '../kinds/run/rules/step.ts'
import type { EventWithTask } from '../kinds/task/record.ts'
import type { Cluster } from '../postgres/cluster/cluster.ts'
import type { LogHeads } from '../postgres/connection/log-heads.ts'
import type { Revoked } from '../postgres/connection/notices.ts'
import type { Connections } from '../postgres/statements/connections.ts'
import type { LogTailRows } from '../postgres/statements/log-tail.ts'

/** What a transaction has written, and what it had read. */
export type Written =
  | { on: 'batch'; view: View; changes: Changes }
  | { on: 'runs'; view: RunsView; changes: RunsChanges }
export type OnWritten = (workspaceId: number, written: Written) => void

/**
 * The store of a server, as acts see it: what every store that holds runs offers, the pools, and what only Postgres has. What one kind
 * reads for itself is not here: its acts call the functions of its file called postgres, with a pool.
 */
export interface ServerStore extends RunStore, Connections {
  transact<T>(workspaceId: number, step: ServerStep<T>): Promise<T>
  readonly agents: RunStore['agents'] & {
    /** By slug or id: callers name agents in requests on other kinds, too. */
    find(workspaceId: number, name: string): Promise<AgentSeen | null>
  }
  events(workspaceId: number, after: number, limit: number): Promise<EventWithTask[]>
  readonly missionCounters: {
    /** The next missions whose counters differ from their tasks. */
    drifted(only?: number): Promise<{ workspaceId: number; missionId: number; uuid: string }[]>
  }
  readonly cluster: Cluster
  readonly followers: RunStore['followers'] & {
    /** Cursors that are further than they are written: workspaces, followers, numbers. */
    readonly cached: readonly [number[], string[], number[]]
  }
  /** How far each log is known to be: a lower bound of what a read from now on contains. */
  readonly heads: LogHeads
  readonly logTail: LogTailRows
  /** The id of the database. */
  readonly instance: string
  /** Of Postgres. */
  readonly version: string
  /** Notifies of revoked keys, whichever node revoked them. */
  onRevoked(listener: Revoked): () => void
  broadcast(message: NodeMessage): void
  /** What other nodes tell. */
  onNodeMessage(listener: OnNodeMessage): () => void
  /** Called after each commit of this node that changed tasks, records beside them, or runs. A listener must not throw. */
  onWritten(listener: OnWritten): () => void
  /** Throws when the database does not answer, or has no room for what is written. */
  ping(): Promise<void>
}
