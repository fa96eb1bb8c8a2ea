import { StartRefused } from '../../src/pure/refusal.ts'
import { type Pool, SMALLEST_PACKET } from './connect.ts'
import { sql } from './sql.ts'

/** What the server reports about itself. */
export interface Facts {
  version: string
  /** Global variables by name; unknown ones are missing. */
  variables: ReadonlyMap<string, string>
  hasInnodb: boolean
  /** Baton tables that use another engine. */
  otherEngines: readonly string[]
}

const ASKED = [
  'innodb_flush_log_at_trx_commit',
  'log_bin',
  'sync_binlog',
  'binlog_format',
  'read_only',
  'super_read_only',
  'innodb_read_only',
  'wsrep_on',
  'max_allowed_packet',
]

export const isMariadb = ({ version }: Pick<Facts, 'version'>) => /mariadb/i.test(version)
export const largestPacketOf = ({ variables }: Facts) => Number(variables.get('max_allowed_packet'))

export async function factsOf(pool: Pool): Promise<Facts> {
  const [[version]] = (await pool.rows(sql`select version()`)) as [[string]]
  const variables = await pool.rows(sql`show global variables where variable_name in (${ASKED})`)
  const innodb = await pool.rows(
    sql`select 1 from information_schema.engines where engine = 'InnoDB' and support in ('YES', 'DEFAULT')`,
  )
  const other = await pool.rows(
    sql`select table_name from information_schema.tables
         where table_schema = database() and table_name like 'baton\\_%' and engine <> 'InnoDB'`,
  )
  return {
    version,
    variables: new Map(variables.map(([name, value]) => [String(name).toLowerCase(), String(value)])),
    hasInnodb: innodb.length > 0,
    otherEngines: other.map(([name]) => String(name)),
  }
}

/** MariaDB: SKIP LOCKED. MySQL: also tables of literals, and locks in the parts of a union. */
const OLDEST = { MariaDB: [10, 6, 0], MySQL: [8, 0, 22] } as const

/** Why Baton cannot use this server, in one sentence; null when it can. */
export function whyNotReady(facts: Facts): string | null {
  const { version, variables, hasInnodb, otherEngines } = facts
  const kind = isMariadb(facts) ? 'MariaDB' : 'MySQL'
  const is = (name: string, ...values: string[]) => values.includes(variables.get(name)?.toUpperCase() ?? '')
  if (isOlder(version, OLDEST[kind]))
    return `Baton needs ${kind} ${OLDEST[kind].slice(0, kind === 'MariaDB' ? 2 : 3).join('.')} or newer; this is ${version}.`
  if (!hasInnodb)
    return 'Baton needs InnoDB, which this database server does not have: work would not be transactional.'
  if (otherEngines.length > 0)
    return `Some tables are not InnoDB, so work would not be transactional: ${otherEngines.join(', ')}.`
  if (is('read_only', 'ON', '1') || is('super_read_only', 'ON', '1') || is('innodb_read_only', 'ON', '1'))
    return 'The database server is read-only, perhaps a replica: connect to the primary.'
  // MariaDB's 3 syncs at prepare as well as at commit: more than 1, not less.
  const flush = kind === 'MariaDB' ? ['1', '3'] : ['1']
  if (!is('innodb_flush_log_at_trx_commit', ...flush))
    return `The database is not durable (innodb_flush_log_at_trx_commit = ${variables.get('innodb_flush_log_at_trx_commit')}, not 1); acknowledged work could be lost.`
  if (is('log_bin', 'ON', '1') && !is('sync_binlog', '1'))
    return `The database is not durable (sync_binlog = ${variables.get('sync_binlog')}, not 1): at recovery it drops what its binary log lacks, so acknowledged work could be lost.`
  if (is('log_bin', 'ON', '1') && is('binlog_format', 'STATEMENT'))
    return 'Baton needs binlog_format = ROW or MIXED: with STATEMENT, replicas would diverge.'
  if (is('wsrep_on', 'ON', '1'))
    return 'Baton does not support Galera clusters: their nodes do not see each other’s locks.'
  if (largestPacketOf(facts) < SMALLEST_PACKET)
    return `Baton needs max_allowed_packet of at least ${SMALLEST_PACKET}; it is ${largestPacketOf(facts)}.`
  return null
}

export function assertReady(facts: Facts): void {
  const why = whyNotReady(facts)
  if (why !== null) throw new StartRefused(why)
}

function isOlder(version: string, oldest: readonly number[]): boolean {
  // MariaDB may put 5.5.5- in front, for old replicas that cannot parse a version of two digits.
  const parts = version.replace(/^5\.5\.5-(?=\d+\.\d+\.\d+-mariadb)/i, '').match(/\d+/g) ?? []
  for (const [i, least] of oldest.entries()) {
    const part = Number(parts[i] ?? 0)
    if (part !== least) return part < least
  }
  return false
}
