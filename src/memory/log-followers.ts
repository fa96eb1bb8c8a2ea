import {
  AT_A_TIME,
  cutRanges,
  type LogFollowers,
  type LogRange,
  readNext,
  type WantedEvents,
} from '../kernel/store/log-followers.ts'
import { FOLLOWERS } from '../kinds/all.ts'
import type { StoredEvent } from '../kinds/events.ts'
import type { Workspace } from './workspace.ts'

interface Cursor {
  seq: number
  /** When the wait after a failure ends. */
  retryAt: number
  failures: number
}

/** Followers of the logs in memory. They end with the process, like the logs. */
export class MemoryFollowers implements LogFollowers {
  /** By workspace, then by follower. */
  readonly #cursors = new Map<number, Map<string, Cursor>>()
  readonly #now: () => number
  readonly #inside: (workspaceId: number) => Workspace

  constructor(now: () => number, inside: (workspaceId: number) => Workspace) {
    this.#now = now
    this.#inside = inside
  }

  addWorkspace(workspaceId: number): void {
    const cursors = Object.keys(FOLLOWERS).map((name) => [name, { seq: 0, retryAt: 0, failures: 0 }] as const)
    this.#cursors.set(workspaceId, new Map(cursors))
  }

  async follow(workspaceId: number, follower: string, from: 'beginning' | 'now'): Promise<void> {
    const cursors = this.#cursors.get(workspaceId)!
    const seq = from === 'beginning' ? 0 : this.#lastSeq(workspaceId)
    if (!cursors.has(follower)) cursors.set(follower, { seq, retryAt: 0, failures: 0 })
  }

  async unfollow(workspaceId: number, follower: string): Promise<void> {
    this.#cursors.get(workspaceId)?.delete(follower)
  }

  async unfollowed() {
    return [...this.#cursors].flatMap(([workspaceId, cursors]) =>
      Object.keys(FOLLOWERS)
        .filter((follower) => !cursors.has(follower))
        .map((follower) => ({ workspaceId, follower })),
    )
  }

  async behind(follower: string, only?: number): Promise<LogRange[]> {
    const found = [...this.#cursors].flatMap(([workspaceId, cursors]) => {
      const cursor = only === undefined || only === workspaceId ? cursors.get(follower) : undefined
      const lastSeq = this.#lastSeq(workspaceId)
      if (!cursor || cursor.retryAt > this.#now() || cursor.seq >= lastSeq) return []
      const { where } = FOLLOWERS[follower] ?? {}
      const isIdle = where !== undefined && !HAS[where](this.#inside(workspaceId))
      return [{ workspaceId, follower, after: cursor.seq, lastSeq, failures: cursor.failures, isIdle }]
    })
    return cutRanges(found.slice(0, AT_A_TIME.workspaces))
  }

  async read(ranges: readonly LogRange[], wanted: WantedEvents) {
    return ranges.map(({ workspaceId, after, upTo }) =>
      this.#inside(workspaceId).events.slice(after, upTo).filter(isWanted(wanted)),
    )
  }

  next(follower: string, wanted: WantedEvents, options: Parameters<LogFollowers['next']>[2]) {
    return readNext(this, follower, wanted, options)
  }

  async advance(range: LogRange, seq: number): Promise<void> {
    this.#move(range, seq, { retryAt: 0, failures: 0 })
  }

  async postpone(range: LogRange, seq: number, retry: { waitMs: number; failures: number }): Promise<void> {
    this.#move(range, seq, { retryAt: this.#now() + retry.waitMs, failures: retry.failures })
  }

  async followedByAll(workspaceId: number): Promise<number> {
    const cursors = [...(this.#cursors.get(workspaceId)?.values() ?? [])]
    return Math.min(this.#lastSeq(workspaceId), ...cursors.map(({ seq }) => seq))
  }

  #lastSeq = (workspaceId: number) => this.#inside(workspaceId).events.length

  #move({ workspaceId, follower }: LogRange, seq: number, change: Omit<Cursor, 'seq'>): void {
    const cursor = this.#cursors.get(workspaceId)?.get(follower)
    if (cursor) Object.assign(cursor, change, { seq: Math.max(cursor.seq, seq) })
  }
}

const HAS: Record<'blockedTasks' | 'missions' | 'keys', (workspace: Workspace) => boolean> = {
  blockedTasks: ({ tasks }) => [...tasks.values()].some(({ blocked }) => blocked),
  missions: ({ missions }) => missions.size > 0,
  keys: ({ plain }) => plain.key.size > 0,
}

const isWanted =
  ({ to, from = [], types = [], inMissions }: WantedEvents) =>
  (event: StoredEvent) =>
    (types.includes(event.type) ||
      (event.to !== null && (to.includes(event.to) || (event.from !== null && from.includes(event.from))))) &&
    (!inMissions || event.missionId != null)
