import type { FollowedEvent, FollowedStore, WantedEvents } from './store/log-followers.ts'
import type { UpkeepContext } from './upkeep-context.ts'

/** Does something about what happened; see kernel/store/log-followers.ts for what it can rely on. */
export interface Follower<S extends FollowedStore = FollowedStore> {
  name: string
  wants: WantedEvents
  /** Handles wanted events, of which there is at least one. When it throws, it gets them again later, and perhaps more. */
  handle(
    context: UpkeepContext<S>,
    workspaceId: number,
    events: readonly FollowedEvent[],
  ): Promise<{
    /** How many things it did. */
    did: number
    /** The event that cannot be handled yet: it gets this one and those after it again in a moment. */
    waitsAt?: number | undefined
  }>
}
