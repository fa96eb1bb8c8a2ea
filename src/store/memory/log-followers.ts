import type { LogFollowers, LogRange, NextRanges } from '../log-followers.ts'

interface Cursor {
  seq: number
  holder: string | null
  /** When its lease ends, or the wait after a failure. */
  freeAt: number
  failures: number
}

/** Followers of the logs in memory. They end with the process, like the logs. */
export class MemoryFollowers implements LogFollowers {
  /** By workspace, then by follower. */
  readonly #cursors = new Map<number, Map<string, Cursor>>()
  readonly #now: () => number
  readonly #lastSeq: (workspaceId: number) => number
  #leases = 0

  constructor(now: () => number, lastSeq: (workspaceId: number) => number) {
    this.#now = now
    this.#lastSeq = lastSeq
  }

  async follow(workspaceId: number, follower: string, from: 'beginning' | 'now'): Promise<void> {
    const cursors = this.#cursors.get(workspaceId) ?? new Map<string, Cursor>()
    this.#cursors.set(workspaceId, cursors)
    const seq = from === 'beginning' ? 0 : this.#lastSeq(workspaceId)
    if (!cursors.has(follower)) cursors.set(follower, { seq, holder: null, freeAt: 0, failures: 0 })
  }

  async unfollow(workspaceId: number, follower: string): Promise<void> {
    this.#cursors.get(workspaceId)?.delete(follower)
  }

  async next(follower: string, { workspaces, events, leaseMs, only }: NextRanges): Promise<LogRange[]> {
    const now = this.#now()
    const found = [...this.#cursors].flatMap(([workspaceId, cursors]) => {
      const cursor = only === undefined || only === workspaceId ? cursors.get(follower) : undefined
      const isFree = cursor && cursor.freeAt <= now && cursor.seq < this.#lastSeq(workspaceId)
      return isFree ? [{ workspaceId, cursor }] : []
    })
    return found.slice(0, workspaces).map(({ workspaceId, cursor }) => {
      const holder = `lease-${++this.#leases}`
      Object.assign(cursor, { holder, freeAt: now + leaseMs })
      const { seq: after, failures } = cursor
      const upTo = Math.min(this.#lastSeq(workspaceId), after + events)
      return { workspaceId, follower, holder, after, upTo, failures }
    })
  }

  async renew(range: LogRange, leaseMs: number): Promise<boolean> {
    return this.#underLease(range, { freeAt: this.#now() + leaseMs })
  }

  async advance(range: LogRange): Promise<boolean> {
    return this.#underLease(range, { seq: range.upTo, holder: null, freeAt: 0, failures: 0 })
  }

  async postpone(range: LogRange, waitMs: number): Promise<void> {
    const failures = range.failures + 1
    this.#underLease(range, { holder: null, freeAt: this.#now() + waitMs, failures })
  }

  async followedByAll(workspaceId: number): Promise<number> {
    const cursors = [...(this.#cursors.get(workspaceId)?.values() ?? [])]
    return Math.min(this.#lastSeq(workspaceId), ...cursors.map(({ seq }) => seq))
  }

  #underLease({ workspaceId, follower, holder }: LogRange, change: Partial<Cursor>): boolean {
    const cursor = this.#cursors.get(workspaceId)?.get(follower)
    if (cursor?.holder !== holder) return false
    Object.assign(cursor, change)
    return true
  }
}
