import type { StoredEvent } from '../../kinds/events.ts'
import type { BlockedTask, Store } from './store.ts'

/**
 * Followers of the event log. A follower has a name and, in each workspace that it follows, a cursor: all events up to it
 * are handled. It gets the events in order and each at least once: again, when a node died or failed before it advanced the
 * cursor. The leader runs them, so no cursor is leased; a cursor never moves back.
 */

/** Unblocks tasks whose dependencies have ended. */
export const DEPENDENTS = 'dependents'

/** Writes reports on tasks and missions that ended. */
export const REPORTS = 'reports'

/** Notes which webhooks have something to send. */
export const WEBHOOKS = 'webhooks'
/** Raises and resolves alerts. */
export const ALERTS = 'alerts'

/** The events after `after` up to `upTo`. */
export interface LogRange {
  workspaceId: number
  follower: string
  after: number
  upTo: number
  /** The last event of the log. */
  lastSeq: number
  /** How often this has failed. */
  failures: number
  /** The workspace has nothing that concerns the follower, so no event up to `upTo` can. */
  isIdle: boolean
}

/** Which events a follower handles: those that lead to, or away from, one of these states, those of these types, or those for a webhook. */
export interface WantedEvents {
  to: readonly string[]
  from?: readonly string[]
  types?: readonly string[]
  /** Only events of missions and of their tasks. */
  inMissions?: boolean
  /** Instead: events of the types that webhooks of their workspace name. */
  forWebhooks?: boolean
}

/** Without payload: most followers need none, and it is the larger part. */
export type FollowedEvent = Pick<
  StoredEvent,
  'seq' | 'type' | 'taskId' | 'missionId' | 'from' | 'to' | 'actor' | 'at'
>

/** A range with its wanted events. */
export interface ReadRange extends LogRange {
  events: FollowedEvent[]
}

interface NextOptions {
  only?: number | undefined
  /** Ranges that are left alone: their log is being handled. */
  isBusy?: ((range: LogRange) => boolean) | undefined
}

export interface LogFollowers {
  /** Begins to follow a workspace. No effect if it follows it already. */
  follow(workspaceId: number, follower: string, from: 'beginning' | 'now'): Promise<void>
  /** Nothing waits for this follower from now on. */
  unfollow(workspaceId: number, follower: string): Promise<void>
  /** Workspaces without a cursor of a follower: they are older than it. */
  unfollowed(): Promise<{ workspaceId: number; follower: string }[]>
  /** The next range of each workspace whose log is longer than the cursor, unless it waits after a failure. */
  behind(follower: string, only?: number): Promise<LogRange[]>
  /** The events of these ranges that are wanted, for each range. */
  read(ranges: readonly LogRange[], wanted: WantedEvents): Promise<FollowedEvent[][]>
  /** Both, in one question to the store. Where no event is wanted, the cursor is moved on: only the others are left to handle. */
  next(follower: string, wanted: WantedEvents, options: NextOptions): Promise<ReadRange[]>
  /** All up to `seq` is handled. If nothing came of it, the store may write it down later: it would be handled again for nothing. */
  advance(range: LogRange, seq: number, isWorthWriting: boolean): Promise<void>
  /** All up to `seq` is handled; what comes next is given out again after this time. */
  postpone(range: LogRange, seq: number, retry: { waitMs: number; failures: number }): Promise<void>
  /** The last event that every follower of the workspace has handled: nothing after it may be deleted. */
  followedByAll(workspaceId: number): Promise<number>
}

/** What a store has whose log can be followed. */
export interface Followed {
  readonly followers: LogFollowers
  /**
   * Blocked tasks among these and their dependents that have not counted how their upstream tasks stand, or not merged their
   * parts.
   */
  missedAmong(workspaceId: number, taskIds: readonly number[], limit: number): Promise<BlockedTask[]>
}

export type FollowedStore = Store & Followed

/** How much is given out at a time: events of all workspaces together, the fewest of one, and the most workspaces. */
export const AT_A_TIME = { events: 20_000, eventsOfOne: 500, workspaces: 100 }

/** Cuts the ranges to what is given out at a time. Where nothing concerns the follower, nothing is read: it goes to the end. */
export function cutRanges(found: readonly Omit<LogRange, 'upTo'>[]): LogRange[] {
  const read = found.filter(({ isIdle }) => !isIdle).length
  const events = Math.max(AT_A_TIME.eventsOfOne, Math.floor(AT_A_TIME.events / Math.max(read, 1)))
  return found.map((range) => {
    const { isIdle, after, lastSeq } = range
    return { ...range, upTo: isIdle ? lastSeq : Math.min(lastSeq, after + events) }
  })
}

/** How stores do `next`. */
export async function readNext(
  followers: LogFollowers,
  follower: string,
  wanted: WantedEvents,
  { only, isBusy = () => false }: NextOptions,
): Promise<ReadRange[]> {
  const free = (await followers.behind(follower, only)).filter((range) => !isBusy(range))
  const toRead = free.filter(({ isIdle }) => !isIdle)
  const read = toRead.length > 0 ? await followers.read(toRead, wanted) : []
  const ranges = [
    ...free.filter(({ isIdle }) => isIdle).map((range) => ({ ...range, events: [] })),
    ...toRead.map((range, i) => ({ ...range, events: read[i]! })),
  ]
  for (const range of ranges) if (range.events.length === 0) await followers.advance(range, range.upTo, false)
  return ranges
}
