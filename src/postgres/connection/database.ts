import type pg from 'pg'
import { StartRefused } from '../../pure/refusal.ts'
import { type ConnectionTarget, cannotBeUsed, openClient, withoutPassword } from './connect.ts'
import { EVERYWHERE, SINCE_17 } from './session-settings.ts'

/** This many transactions are held open at once, to see whether one of them gets the session of another client. */
const HELD = 4

/**
 * A pooler that assigns sessions per transaction would mix up the roles, settings and notices of all clients. In session
 * mode a client keeps its session, and no other client gets it.
 */
async function refuseSharedSessions(way: ConnectionTarget): Promise<void> {
  const clients: pg.Client[] = []
  const connect = async () => {
    const client = await openClient(way, 'baton-setup')
    clients.push(client)
    return client
  }
  try {
    const watched = await connect()
    const own = await sessionOf(watched)
    for (let held = 0; held < HELD; held++) {
      const other = await connect()
      await other.query('begin')
      if ((await sessionOf(other)) === own || (await sessionOf(watched)) !== own) throw shared()
    }
  } catch (error) {
    // Poolers in statement mode refuse transactions.
    throw /pooling mode/.test((error as Error).message) ? shared() : error
  } finally {
    await Promise.all(clients.map((client) => client.end()))
  }
}

const sessionOf = async (client: pg.Client): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid

const shared = () =>
  new StartRefused(
    'The database is behind a pooler that shares sessions between transactions, as PgBouncer does with pool_mode = transaction: use pool_mode = session, or connect to the database directly.',
  )

/** A database as found at start-up: how to connect to it, and one line for people about it. */
export interface Database extends ConnectionTarget {
  found: string
  /** Of Postgres. */
  version: string
}

interface Facts {
  version: number
  versionText: string
  encoding: string
  collation: string
  isStandby: boolean
  /** Settings that lose acknowledged work in a crash. */
  notDurable: string | null
  synchronousCommit: string
  standbys: number
  synchronousStandbys: string
  autovacuum: string
  backend: number
}

// datlocale is called daticulocale before 17; the locales of the system have neither.
const FACTS = `
  select current_setting('server_version_num')::int as "version", current_setting('server_version') as "versionText",
         current_setting('server_encoding') as "encoding",
         (select coalesce(to_jsonb(d) ->> 'datlocale', to_jsonb(d) ->> 'daticulocale', d.datcollate)
            from pg_database d where d.datname = current_database()) as "collation",
         pg_is_in_recovery() as "isStandby",
         (select string_agg(name || ' = ' || setting, ', ' order by name) from pg_settings
           where name in ('fsync', 'full_page_writes') and setting = 'off') as "notDurable",
         current_setting('synchronous_commit') as "synchronousCommit",
         (select count(*) from pg_stat_replication)::int as "standbys",
         current_setting('synchronous_standby_names') as "synchronousStandbys",
         current_setting('autovacuum') as "autovacuum",
         pg_backend_pid() as "backend"`

/** Inspects the database behind this URL and refuses what cannot be used, before anything is written. */
export async function findDatabase(url: string): Promise<Database> {
  const { client, way } = await firstConnection(url).catch((error) => {
    throw cannotBeUsed(url, error)
  })
  try {
    const facts = (await client.query<Facts>(FACTS)).rows[0]!
    refuseUnusable(facts)
    // A commit is on disk when it is acknowledged. A stricter setting, visible on a standby, is kept.
    const synchronous_commit = facts.synchronousCommit === 'remote_apply' ? 'remote_apply' : 'on'
    const settings = { ...EVERYWHERE, ...(facts.version >= 170_000 && SINCE_17), synchronous_commit }
    // Poolers invent the process id that a server reports at the start of a connection.
    const isPooled = way.isPooled || facts.backend !== (client as { processID?: number | null }).processID
    if (isPooled) await refuseSharedSessions({ ...way, settings, isPooled })
    return { ...way, settings, isPooled, found: inOneLine(url, facts, isPooled), version: facts.versionText }
  } catch (error) {
    throw error instanceof StartRefused ? error : cannotBeUsed(url, error)
  } finally {
    await client.end()
  }
}

const UNKNOWN_SETTING = '42704'

/** With all settings from the start, if the server knows them and no pooler refuses them. */
async function firstConnection(url: string): Promise<{ client: pg.Client; way: ConnectionTarget }> {
  const withSettings = { ...reading(url), settings: { ...EVERYWHERE, ...SINCE_17 }, isPooled: false }
  const ways = [
    withSettings,
    { ...withSettings, settings: EVERYWHERE },
    { ...withSettings, settings: EVERYWHERE, isPooled: true },
  ]
  for (;;) {
    const way = ways.shift()!
    try {
      return { client: await openClient(way, 'baton-setup'), way }
    } catch (error) {
      const { code, message } = error as { code?: string; message: string }
      const isRefused = code === UNKNOWN_SETTING || /unsupported startup parameter/i.test(message)
      if (!isRefused || ways.length === 0) throw error
    }
  }
}

/** Baton sets these itself; the driver would let those of the URL win. */
const OF_THE_URL = [
  'application_name',
  'fallback_application_name',
  'client_encoding',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
]

function reading(text: string): Pick<ConnectionTarget, 'url' | 'options'> {
  if (!URL.canParse(text)) return { url: text, options: '' }
  const url = new URL(text)
  const options = url.searchParams.get('options') ?? ''
  const named = ['options', ...OF_THE_URL].filter((name) => url.searchParams.has(name))
  for (const name of named) url.searchParams.delete(name)
  return { url: named.length > 0 ? url.href : text, options }
}

function refuseUnusable({ version, encoding, isStandby, notDurable }: Facts): void {
  if (version < 150_000) throw new StartRefused('Baton needs Postgres 15 or newer.')
  if (isStandby)
    throw new StartRefused('The database is a standby, which accepts no writes; connect to its primary.')
  if (encoding !== 'UTF8')
    throw new StartRefused(
      `The database is encoded in ${encoding}, which cannot store all text; create it with encoding 'UTF8' and template template0.`,
    )
  if (notDurable)
    throw new StartRefused(`The database is not durable (${notDurable}); acknowledged work could be lost.`)
}

function inOneLine(url: string, facts: Facts, isPooled: boolean): string {
  const { versionText, encoding, collation, standbys, synchronousStandbys, autovacuum } = facts
  const replication = [
    standbys === 0 ? 'no standby' : `${standbys} ${standbys === 1 ? 'standby' : 'standbys'}`,
    ...(synchronousStandbys ? [`synchronous replication (${synchronousStandbys})`] : []),
  ]
  const others = [
    ...(isPooled ? ['behind a pooler'] : []),
    ...(autovacuum === 'on' ? [] : ['autovacuum is off']),
  ]
  const found = [`PostgreSQL ${versionText}`, encoding, `collation ${collation}`, ...replication, ...others]
  return `The database (${withoutPassword(url)}): ${found.join(', ')}.`
}
