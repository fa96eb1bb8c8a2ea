import mysql from 'mysql2/promise'
import { Refused } from '../../core/errors.ts'
import { StoreUnavailable } from '../store.ts'
import { Sql, sql } from './sql.ts'

/**
 * What every connection is set to, whatever the server's defaults: bytes are UTF-8, nothing is cut to fit, statements
 * see what is committed when they begin, and the clock has no summer time (its hours would come twice).
 *
 * The lists of keys of a batch are looked up key by key, without estimating each first; a statement that runs too long
 * and a transaction that is left open are ended by the server. `/*!80022` is read by MySQL only, `/*M!` by MariaDB only.
 * MySQL knows no limit for open transactions but the one for idle connections, hence the short `wait_timeout`.
 */
const PINNED = [
  sql`set names utf8mb4 collate utf8mb4_bin`,
  sql`set session transaction isolation level read committed`,
  new Sql(`set session sql_mode = 'STRICT_ALL_TABLES,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION', autocommit = 1,
  time_zone = '+00:00', innodb_lock_wait_timeout = 10, wait_timeout = 30, foreign_key_checks = 1, unique_checks = 1,
  sql_safe_updates = 0, sql_select_limit = 18446744073709551615, sql_auto_is_null = 0, completion_type = 0,
  eq_range_index_dive_limit = 1
  /*!80022 , max_execution_time = 30000, range_optimizer_max_mem_size = 0 */
  /*M!100600 , max_statement_time = 30, idle_transaction_timeout = 15, in_predicate_conversion_threshold = 0 */`),
]

/** With less, a server is refused. */
export const SMALLEST_PACKET = 1024 * 1024
const CONNECT_MS = 5_000
const ANSWER_MS = 60_000
/** Before the server does it. */
const IDLE_MS = 20_000

export type Row = readonly unknown[]
/** The rows of a statement that reads; of one that writes, how many it found and the number it made with `last_insert_id`. */
export interface Result {
  rows: Row[]
  found: number
  made: number
}

/** Connections to one server, each given to one at a time. */
export class Pool {
  readonly #pool: mysql.Pool
  readonly #pinned = new WeakSet<object>()
  /** What the server takes at once, when it has been asked. */
  largestPacket = SMALLEST_PACKET

  constructor(url: string, size: number) {
    this.#pool = mysql.createPool({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectionLimit: size,
      // One less, or the driver would never close an idle one.
      maxIdle: size - 1,
      idleTimeout: IDLE_MS,
      connectTimeout: CONNECT_MS,
      enableKeepAlive: true,
      // Affected rows are those that were found, also when they needed no change. Files of ours are nobody's to ask for.
      flags: ['FOUND_ROWS', '-LOCAL_FILES'],
      multipleStatements: true,
      rowsAsArray: true,
      charset: 'UTF8MB4_BIN',
      // Statements come whole; the driver need not look for places to put values in.
      queryFormat: (text: string) => text,
    })
  }

  /** Lends a connection. One that `act` threw on may have a transaction open: it is closed, and that with it. */
  async use<T>(act: (connection: Connection) => Promise<T>): Promise<T> {
    const lent = await this.#lent()
    try {
      const connection = new Connection(lent, this.largestPacket)
      if (!this.#pinned.has(lent.connection)) {
        await connection.send(PINNED)
        this.#pinned.add(lent.connection)
      }
      const answer = await act(connection)
      lent.release()
      return answer
    } catch (error) {
      lent.destroy()
      throw error
    }
  }

  async #lent(): Promise<mysql.PoolConnection> {
    try {
      return await this.#pool.getConnection()
    } catch (error) {
      throw unavailable(error)
    }
  }

  /** One statement, which is a transaction of its own. */
  async ask(statement: Sql): Promise<Result> {
    const outcome = await this.use(async (connection) => {
      try {
        return { result: (await connection.send([statement]))[0]! }
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        return { error }
      }
    })
    if ('error' in outcome) throw asUnavailable(outcome.error)
    return outcome.result
  }

  rows = async (statement: Sql): Promise<Row[]> => (await this.ask(statement)).rows

  close(): Promise<void> {
    return this.#pool.end()
  }
}

export class Connection {
  readonly #connection: mysql.PoolConnection
  readonly #largestPacket: number

  constructor(connection: mysql.PoolConnection, largestPacket: number) {
    this.#connection = connection
    this.#largestPacket = largestPacket
  }

  /**
   * Any number of statements, run in order up to the first that fails, in as few packets as the server takes. What cannot
   * be sent at all is found before anything is.
   */
  async send(statements: readonly Sql[]): Promise<Result[]> {
    const results: Result[] = []
    for (const packet of inPackets(statements, this.#largestPacket))
      results.push(...(await this.#sendTogether(packet)))
    return results
  }

  async #sendTogether(statements: readonly Sql[]): Promise<Result[]> {
    const text = statements.map((statement) => statement.text).join(';\n')
    try {
      const [results] = await this.#connection.query({ sql: text, timeout: ANSWER_MS })
      // Of one statement the driver gives the result, of several a list of results.
      return ((statements.length === 1 ? [results] : results) as unknown[]).map(asResult)
    } catch (error) {
      throw isOfServer(error) ? error : unavailable(error)
    }
  }
}

/** Of the driver's answer to one statement. */
function asResult(answer: unknown): Result {
  if (Array.isArray(answer)) return { rows: answer, found: answer.length, made: 0 }
  const { affectedRows, insertId } = answer as mysql.ResultSetHeader
  return { rows: [], found: affectedRows, made: insertId }
}

/** What the server keeps for itself of a packet. */
const OVERHEAD = 1_024
const PACKET_LENGTH = 1024 * 1024

function inPackets(statements: readonly Sql[], largestPacket: number): Sql[][] {
  const packets: Sql[][] = [[]]
  // A character is at most three bytes (one outside the first plane counts as two, of four).
  const longest = Math.min(PACKET_LENGTH, largestPacket / 4)
  let length = 0
  for (const statement of statements) {
    const { text } = statement
    if (text.length > longest) refuseTooLarge(text, largestPacket)
    if (length > 0 && length + text.length > longest) {
      packets.push([])
      length = 0
    }
    packets.at(-1)!.push(statement)
    length += text.length
  }
  return packets
}

function refuseTooLarge(text: string, largestPacket: number): void {
  const bytes = Buffer.byteLength(text) + OVERHEAD
  if (bytes > largestPacket)
    throw new Refused(
      'BODY_TOO_LARGE',
      `Keeping this takes ${bytes} bytes; the database accepts ${largestPacket} at once (max_allowed_packet).`,
    )
}

interface ServerError {
  errno: number
  sqlMessage: string
}

/** The server's own words, as opposed to trouble on the way to it. */
const isOfServer = (error: unknown): error is ServerError =>
  typeof (error as Partial<ServerError>).sqlMessage === 'string'

/** Deadlock, a lock that was not to be had in time, and a row that changed under a snapshot. */
const SAYS_AGAIN = new Set([1213, 1205, 1020])
/** Somebody made the same thing first, forgot the queue a task was to stand in, or came to stand in one to be forgotten. */
const SAYS_LOST_RACE = new Set([1062, 1452, 1451])
/** Set to null to say so, since that is refused: see `countersMoved` in write.ts. */
const OVER_LIMIT = /Column 'active_(claims|sessions)' cannot be null/

/** Each such wait was long, so it is not tried often. */
export const isLockTimeout = (error: unknown) => isOfServer(error) && error.errno === 1205

/** Nothing was written, and the next look will see what was in the way. */
export const isWorthAnotherLook = (error: unknown) =>
  isOfServer(error) &&
  (SAYS_AGAIN.has(error.errno) || SAYS_LOST_RACE.has(error.errno) || OVER_LIMIT.test(error.sqlMessage))

export const isDuplicate = (error: unknown) => isOfServer(error) && error.errno === 1062

/**
 * Too many connections, shutting down, lost on the way, read-only after a failover, ended by a time limit or a person,
 * disk full, trouble in the midst of a commit: not now.
 */
const SAYS_NOT_NOW = new Set([
  1040,
  1203,
  1226,
  1053,
  1077,
  1079,
  1129,
  1152,
  1158,
  1159,
  1160,
  1161,
  1184,
  4031,
  1290,
  1792,
  1836,
  1317,
  1927,
  1969,
  3024,
  1021,
  1030,
  1114,
  1180,
  ...SAYS_AGAIN,
])

const unavailable = (error: unknown) =>
  new StoreUnavailable((error as Error).message || String(error), { cause: error })

/** Errors that say "not now" as such; the server's other complaints as they are. */
export const asUnavailable = (error: unknown): unknown =>
  isOfServer(error) && SAYS_NOT_NOW.has(error.errno) ? unavailable(error) : error
