import { sql } from './sql.ts'

/**
 * The server's clock at this moment, in milliseconds. `now()` would be when the statement began; `unix_timestamp` ends in
 * 2038 on older servers. The session's time zone is UTC, in which no hour comes twice.
 */
export const CLOCK = sql`(timestampdiff(microsecond, '1970-01-01', sysdate(6)) div 1000)`
