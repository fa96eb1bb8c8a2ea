import type { AgentHealth, AgentProfile } from '../record.ts'

/** What an agent reports about itself. */
export type Heartbeat = Omit<AgentHealth, 'lastSeenAt' | 'hasHeartbeat' | 'dueAt'>

export type AgentCommand =
  /** Registered explicitly; settings of an existing agent that are left out stay unchanged. */
  | { kind: 'register'; profile: Partial<AgentProfile>; ifVersion: number | null }
  /** It claims for the first time and becomes known by that; a known agent stays as it is. */
  | { kind: 'firstClaim' }
  /** Alive, and so are its claims: leases that are due for renewal are renewed. */
  | { kind: 'heartbeat'; heartbeat: Heartbeat }
  /** It takes no new work, and finishes what it holds, or stops at once and gives that back. */
  | { kind: 'pause'; graceful: boolean; reason: string | null }
  | { kind: 'resume' }
  /** It ends: at once, with its tasks requeued, or when it has finished them. */
  | { kind: 'terminate'; graceful: boolean; reason: string }
  | { kind: 'remove' }
  /** It cannot work on any task; it gets no work until the fault is cleared. */
  | { kind: 'fault'; reason: string }
  /** The fault is repaired. */
  | { kind: 'clearFault' }
  /** Its settings were tested: the names of the checks that failed. */
  | { kind: 'tested'; failed: readonly string[] }
  /**
   * Time passed: checks its silence, and whether it has finished its last tasks. `listeningSince`: silence before that does
   * not count, because no node was running.
   */
  | { kind: 'elapse'; listeningSince?: number | undefined }
  /** A contractor ends with its mission, and works again when that is open again. */
  | { kind: 'followMission'; missionId: number }
