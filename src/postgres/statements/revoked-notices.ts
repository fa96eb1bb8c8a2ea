import { type Bound, statement } from './statements.ts'

export const KEYS_CHANNEL = 'baton_revoked_keys'
/** A payload is limited to 8,000 bytes. */
const KEYS_A_NOTICE = 100

// $1 channel, $2 payload.
const notify = statement('notify', 'select pg_notify($1, $2)')

/** Part of the revoking transaction, so that a crash cannot come between; revocations are rare enough for that. */
export function revokedNotices(ids: readonly string[]): Bound[] {
  const notices: Bound[] = []
  for (let i = 0; i < ids.length; i += KEYS_A_NOTICE)
    notices.push([notify, [KEYS_CHANNEL, JSON.stringify(ids.slice(i, i + KEYS_A_NOTICE))]])
  return notices
}
