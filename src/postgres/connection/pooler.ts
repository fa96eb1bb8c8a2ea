import type pg from 'pg'
import { StartRefused } from '../../pure/refusal.ts'
import { type ConnectionTarget, openClient } from './connect.ts'

/** This many transactions are held open at once, to see whether one of them gets the session of another client. */
const HELD = 4

/**
 * A pooler that assigns sessions per transaction would mix up the roles, settings and notices of all clients. In session
 * mode a client keeps its session, and no other client gets it.
 */
export async function refuseSharedSessions(way: ConnectionTarget): Promise<void> {
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
