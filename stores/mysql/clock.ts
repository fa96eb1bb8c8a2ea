import { sql } from './sql.ts'

/**
 * The server's clock now, in milliseconds, for decisions on locked rows: `now()` is the start of the statement, which may
 * have waited for a lock. The session's time zone is UTC, which has no daylight saving time.
 */
export const CLOCK = sql`(timestampdiff(microsecond, '1970-01-01', sysdate(6)) div 1000)`

/** The start of the statement, for searches: an index cannot be used for a value that could change from row to row. */
export const NOW = sql`(timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000)`
