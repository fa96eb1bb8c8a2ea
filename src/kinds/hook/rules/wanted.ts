import { valueAt } from '../../../pure/json-pointer.ts'
import type { HookRecord } from '../record.ts'

/** Lists and objects are no value that a condition can name; what is not there is none. */
const asText = (value: unknown): string =>
  typeof value === 'object' || value === undefined ? '\u0000' : String(value)

/** Why a delivery is none of those that a hook waits for; null: it is one. */
export function whyIgnored(
  { isEnabled, scheme, events, conditions }: HookRecord,
  event: string | null,
  payload: unknown,
): string | null {
  if (!isEnabled) return 'The hook is paused.'
  if (scheme === 'github' && event === 'ping') return 'GitHub has only asked whether somebody answers.'
  if (events.length > 0 && (event === null || !events.includes(event)))
    return event === null ? 'It does not say which event it is.' : `The hook does not wait for "${event}".`
  const unmet = conditions.find(({ at, is }) => !is.includes(asText(valueAt(payload, at))))
  return unmet ? `${unmet.at || 'The payload'} is none of the values that the hook waits for.` : null
}
