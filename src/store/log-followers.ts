/**
 * Followers of the event log. A follower has a name and, in each workspace that it follows, a cursor: all events up to it
 * are handled. It gets the events in order and each at least once: again, when a node died or failed before it advanced the
 * cursor. At most one node works on a cursor at a time, under a lease by the store's clock.
 */

/** Unblocks tasks whose dependencies have ended. It follows every workspace from its first event. */
export const DEPENDENTS = 'dependents'

/** Writes reports on tasks and missions that ended. It follows workspaces from their first mission on. */
export const REPORTS = 'reports'

/** The events after `after` up to `upTo`, leased to the caller of `next`. */
export interface LogRange {
  workspaceId: number
  follower: string
  after: number
  upTo: number
  /** How often this has failed. */
  failures: number
  /** The lease that it was given out under. */
  holder: string
}

export interface NextRanges {
  /** At most so many workspaces. */
  workspaces: number
  /** At most so many events of each. */
  events: number
  leaseMs: number
  /** Of this workspace alone. */
  only?: number | undefined
}

export interface LogFollowers {
  /** Begins to follow a workspace: from its first event, or with what happens from now on. No effect if it follows it already. */
  follow(workspaceId: number, follower: string, from: 'beginning' | 'now'): Promise<void>
  /** Nothing waits for this follower from now on. */
  unfollow(workspaceId: number, follower: string): Promise<void>
  /** What the follower has to handle next, in workspaces where nobody else is working on it. */
  next(follower: string, most: NextRanges): Promise<LogRange[]>
  /** Extends the lease. False: it is lost, and another may work on the range. */
  renew(range: LogRange, leaseMs: number): Promise<boolean>
  /** The range is handled. False: the lease was lost, and another handles the range again. */
  advance(range: LogRange): Promise<boolean>
  /** The range could not be handled: it is given out again after this time. */
  postpone(range: LogRange, waitMs: number): Promise<void>
  /** The last event that every follower of the workspace has handled: nothing after it may be deleted. */
  followedByAll(workspaceId: number): Promise<number>
}
