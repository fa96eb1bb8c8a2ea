import { createHash } from 'node:crypto'
import { StartRefused } from '../../../src/pure/refusal.ts'
import { NOW } from '../clock.ts'
import { type Connection, isColumnThere, type Pool } from '../connect.ts'
import { Sql, sql } from '../sql.ts'
import { MIGRATIONS, type Migration } from './migrations.ts'

const LOCK_SECONDS = 60

const checksumOf = ({ statements }: Migration) =>
  createHash('sha256').update(statements.join(';\n')).digest('hex')

/** Brings the database up to this version of Baton, or refuses and changes nothing. Safe with several nodes starting at once. */
export function migrate(pool: Pool, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  return pool.use(async (connection) => {
    // Named after this database, because locks belong to the whole server. The server releases it with the connection.
    const lock = sql`concat('baton:', sha1(database()))`
    const [[taken]] = (await connection.send([sql`select get_lock(${lock}, ${LOCK_SECONDS})`])).map(
      (one) => one.rows,
    ) as [[[number | null]]]
    if (taken[0] !== 1) throw new StartRefused('Another node has been setting up the database for a minute.')
    try {
      await applyMissing(connection, migrations)
    } finally {
      await connection.send([sql`do release_lock(${lock})`])
    }
  })
}

/** The columns it adds exist already: an interrupted migration came this far. Each statement is atomic. */
async function unlessDone(connection: Connection, statement: string): Promise<void> {
  try {
    await connection.send([new Sql(statement)])
  } catch (error) {
    if (!isColumnThere(error)) throw error
  }
}

async function applyMissing(connection: Connection, migrations: readonly Migration[]): Promise<void> {
  await connection.send([
    sql`create table if not exists baton_schema (
      version int not null primary key,
      name varbinary(200) not null,
      checksum varbinary(64) not null,
      applied_at bigint not null
    ) engine=InnoDB`,
  ])
  const [found] = await connection.send([
    sql`select version, name, checksum from baton_schema order by version`,
  ])
  const applied = new Set<number>()
  for (const [version, name, checksum] of found!.rows) {
    const ours = migrations.find((one) => one.version === version)
    if (!ours)
      throw new StartRefused(
        `The database is newer than this Baton: it has ${name}, which this version does not know; start a newer Baton, or restore a backup from before the upgrade.`,
      )
    if (ours.name !== String(name))
      throw new StartRefused(
        `The database was made by an earlier, unreleased version of Baton (it has ${name}); give this version an empty database.`,
      )
    if (checksumOf(ours) !== String(checksum))
      throw new StartRefused(`The database was set up with another ${name} than this Baton has.`)
    applied.add(ours.version)
  }
  for (const one of migrations) {
    if (applied.has(one.version)) continue
    for (const statement of one.statements) await unlessDone(connection, statement)
    await connection.send([
      sql`insert into baton_schema (version, name, checksum, applied_at)
          values (${one.version}, ${one.name}, ${checksumOf(one)}, ${NOW})`,
    ])
  }
}
