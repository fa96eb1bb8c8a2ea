import type pg from 'pg'

/**
 * Migrations that run outside a transaction, statement by statement, so that no lock lasts longer than its statement:
 * `create index concurrently` and the validation of constraints let others read and write. Each statement can run again, as
 * a crash may leave the first ones done; an index that a crash left half-made is dropped and made again.
 */

/** The first line of such a file. */
const MARK = '-- outside a transaction\n'
export const isOutsideTransactions = (sql: string) => sql.startsWith(MARK)

/** Statements end with a semicolon at the end of a line. Function bodies are not supported in these files. */
export function statementsOf(sql: string): string[] {
  if (sql.includes('$$')) throw new Error('A migration outside a transaction has no function bodies.')
  const code = sql.replace(/--.*$/gm, '')
  return code
    .split(/;\s*$/m)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '')
}

/** For a new database, which nobody else uses: the same in the transaction of all the others. */
export const withoutConcurrently = (sql: string) => sql.replace(/\bconcurrently\b/gi, '')

/** A statement that cannot get its lock stops waiting, so that those behind it proceed, and is tried again. */
const LOCK_TIMEOUT = '500ms'
const TRIES = 600
const PAUSE_MS = 200
const LOCK_NOT_AVAILABLE = '55P03'

export async function runStatements(client: pg.Client, sql: string): Promise<void> {
  for (const statement of statementsOf(sql)) {
    const index = /^create\s+(?:unique\s+)?index\s+concurrently\s+(?:if\s+not\s+exists\s+)?(\w+)/i.exec(
      statement,
    )
    if (index) await makeIndex(client, index[1]!, statement)
    else await runWithoutBlocking(client, statement)
  }
}

/** It waits for the transactions of others, but nobody waits for it. */
async function makeIndex(client: pg.Client, name: string, statement: string): Promise<void> {
  const { rows } = await client.query<{ isValid: boolean }>(
    'select i.indisvalid as "isValid" from pg_index i where i.indexrelid = to_regclass($1)',
    [name],
  )
  if (rows[0]?.isValid) return
  if (rows[0]) await client.query(`drop index concurrently ${client.escapeIdentifier(name)}`)
  await client.query(statement)
}

async function runWithoutBlocking(client: pg.Client, statement: string): Promise<void> {
  await client.query(`set lock_timeout = '${LOCK_TIMEOUT}'`)
  try {
    for (let tries = 1; ; tries++) {
      try {
        await client.query(statement)
        return
      } catch (error) {
        if ((error as pg.DatabaseError).code !== LOCK_NOT_AVAILABLE || tries === TRIES) throw error
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
      }
    }
  } finally {
    await client.query('set lock_timeout = 0')
  }
}
