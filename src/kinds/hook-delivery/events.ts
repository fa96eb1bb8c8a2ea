import { eventsAbout, text } from '../../pure/event.ts'
import { brief, why } from '../../pure/words.ts'

const event = eventsAbout(
  { entity: 'hook', namedIn: 'hookId' },
  { hookId: text, name: text, delivery: text, made: text.nullable(), reason: text.nullable() },
)

const MADE: Readonly<Record<string, string>> = {
  ...{ wakeup: 'woke an agent', task: 'created a task', mission: 'started a mission' },
}

export const hookDeliveryEvents = {
  hook_delivered: event.info(
    {},
    ({ name, made }) =>
      `A delivery to the hook "${brief(name)}" ${MADE[made ?? ''] ?? 'did what the hook does'}.`,
  ),
  /** It does not match what the hook waits for, or the agent is not to be woken now. */
  hook_ignored: event.info(
    {},
    ({ name, reason }) => `A delivery to the hook "${brief(name)}" did nothing${why(reason)}.`,
  ),
  hook_failed: event.error(
    {},
    ({ name, reason }) => `A delivery to the hook "${brief(name)}" failed${why(reason)}.`,
  ),
  /** Nobody knows who sent it. */
  hook_refused: event.warn(
    {},
    ({ name, reason }) => `A delivery to the hook "${brief(name)}" was refused${why(reason)}.`,
  ),
}

type HookDeliveryEvents = typeof hookDeliveryEvents
declare module '../events.ts' {
  interface Catalogue extends HookDeliveryEvents {}
}
