import { sql } from './sql.ts'

/**
 * The server's clock at this very moment, in milliseconds, for judging what is locked: `now()` would be when the statement
 * began, and the statement may have waited. The session's time zone is UTC, in which no hour comes twice.
 */
export const CLOCK = sql`(timestampdiff(microsecond, '1970-01-01', sysdate(6)) div 1000)`

/** When the statement began, for searching: no index is of use for a value that could change from row to row. */
export const NOW = sql`(timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) div 1000)`
