import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { accountForPostgres } from '../../../src/embedded-postgres/account.ts'
import { asAccount } from './postgres.ts'
import { type PrivateServer, startPrivateServer } from './private-server.ts'

/** A PgBouncer before the server of this URL, for its user and any of its databases. */
export function startPgbouncer(
  program: string,
  server: string,
  settings: Record<string, string>,
): Promise<PrivateServer> {
  const { hostname, port: serverPort, username, password, pathname } = new URL(server)
  const at = `host=${hostname} port=${serverPort} user=${username}${password && ` password=${password}`}`
  const configure = (data: string, port: number) => {
    const all = {
      listen_addr: '127.0.0.1',
      listen_port: String(port),
      unix_socket_dir: '',
      auth_type: 'any',
      logfile: '',
      ...settings,
    }
    const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
    const file = join(data, 'pgbouncer.ini')
    writeFileSync(file, `[databases]\n* = ${at}\n[pgbouncer]\n${lines.join('\n')}\n`)
    const account = accountForPostgres()
    if (account) {
      chmodSync(dirname(data), 0o711)
      chownSync(data, account.uid, account.gid)
      chownSync(file, account.uid, account.gid)
    }
    return [file]
  }
  return startPrivateServer({
    name: 'PgBouncer',
    ...asAccount(program, configure),
    url: (port) => `postgres://${username}@127.0.0.1:${port}${pathname}`,
    async isUp(url) {
      const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
      client.on('error', () => undefined)
      try {
        await client.connect()
        return true
      } finally {
        await client.end()
      }
    },
  })
}
