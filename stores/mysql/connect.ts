import mysql from 'mysql2/promise'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { Refused } from '../../src/pure/errors.ts'
import { Sql, sql } from './sql.ts'

/**
 * Settings of every connection, whatever the server's defaults: text is UTF-8, nothing is truncated, statements see what is
 * committed when they begin, and the clock has no daylight saving time (an hour would occur twice).
 *
 * Key lists of a batch are looked up key by key, without estimating each first; the server ends statements that run too long
 * and transactions that are left open. `/*!80022` is read by MySQL only, `/*M!` by MariaDB only. MySQL has no limit for open
 * transactions but the one for idle connections, hence the short `wait_timeout`.
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

/** A server with less is refused. */
export const SMALLEST_PACKET = 1024 * 1024
const CONNECT_MS = 5_000
const ANSWER_MS = 60_000
/** Shorter than the server's own timeout. */
const IDLE_MS = 20_000

export type Row = readonly unknown[]
/**
 * The rows of a statement that reads; of one that writes, how many rows it matched and the number it made with
 * `last_insert_id`.
 */
export interface Result {
  rows: Row[]
  found: number
  made: number
}

/** Connections to one server, each used by one caller at a time. */
export class Pool {
  readonly #pool: mysql.Pool
  readonly #pinned = new WeakSet<object>()
  /** The server's max_allowed_packet, once it is known. */
  largestPacket = SMALLEST_PACKET

  constructor(url: string, size: number) {
    this.#pool = mysql.createPool({
      uri: url.replace(/^mariadb:/, 'mysql:'),
      connectionLimit: size,
      // One less, or the driver would never close an idle connection.
      maxIdle: size - 1,
      idleTimeout: IDLE_MS,
      connectTimeout: CONNECT_MS,
      enableKeepAlive: true,
      // Affected rows count matched rows, even unchanged ones. The server must not request local files.
      flags: ['FOUND_ROWS', '-LOCAL_FILES'],
      multipleStatements: true,
      rowsAsArray: true,
      charset: 'UTF8MB4_BIN',
      // Statements are complete; the driver need not look for placeholders.
      queryFormat: (text: string) => text,
    })
  }

  /** Runs `act` on a connection. If `act` throws, a transaction may be open: the connection is closed, which ends it. */
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

  /** One statement, in its own transaction. */
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
   * Any number of statements, run in order up to the first that fails, in as few packets as the server accepts. A statement
   * that is too large is found before anything is sent.
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
      // For one statement the driver returns its result, for several a list of results.
      return ((statements.length === 1 ? [results] : results) as unknown[]).map(asResult)
    } catch (error) {
      throw isFromServer(error) ? error : unavailable(error)
    }
  }
}

function asResult(answer: unknown): Result {
  if (Array.isArray(answer)) return { rows: answer, found: answer.length, made: 0 }
  const { affectedRows, insertId } = answer as mysql.ResultSetHeader
  return { rows: [], found: affectedRows, made: insertId }
}

/** Bytes of a packet that the server needs for itself. */
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
      `Storing this takes ${bytes} bytes; the database accepts ${largestPacket} at once (max_allowed_packet).`,
    )
}

interface ServerError {
  errno: number
  sqlMessage: string
}

/** An error of the server itself, not of the connection. */
const isFromServer = (error: unknown): error is ServerError =>
  typeof (error as Partial<ServerError>).sqlMessage === 'string'

/** Deadlock, lock wait timeout, and a row that changed under a snapshot. */
const RETRYABLE = new Set([1213, 1205, 1020])
/** Another node inserted the same row first, deleted the queue of a task, or put a task in a queue that is being deleted. */
const LOST_RACE = new Set([1062, 1452, 1451])
/** The counter is set to null on purpose, which the column refuses: see `countersMoved` in writes.ts. */
const OVER_LIMIT = /Column 'active_(claims|sessions)' cannot be null/

/** Each such wait is long, so there are few attempts. */
export const isLockTimeout = (error: unknown) => isFromServer(error) && error.errno === 1205

/** Nothing was written, and the next read sees the conflicting change. */
export const isRetryable = (error: unknown) =>
  isFromServer(error) &&
  (RETRYABLE.has(error.errno) || LOST_RACE.has(error.errno) || OVER_LIMIT.test(error.sqlMessage))

export const isColumnThere = (error: unknown) => isFromServer(error) && error.errno === 1060
export const isDuplicate = (error: unknown) => isFromServer(error) && error.errno === 1062

/**
 * Unavailable: too many connections, shutdown, connection lost, read-only after a failover, ended by a time limit or a
 * person, disk full, error during commit.
 */
const UNAVAILABLE = new Set([
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
  ...RETRYABLE,
])

const unavailable = (error: unknown) =>
  new StoreUnavailable((error as Error).message || String(error), { cause: error })

/** Errors that mean "unavailable" become StoreUnavailable; other errors of the server stay as they are. */
export const asUnavailable = (error: unknown): unknown =>
  isFromServer(error) && UNAVAILABLE.has(error.errno) ? unavailable(error) : error
