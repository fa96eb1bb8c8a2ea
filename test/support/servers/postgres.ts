import { chmodSync, chownSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { accountForPostgres } from '../../../src/embedded-postgres/account.ts'
import { find, type Machine, thisMachine } from './machine.ts'
import { type PrivateServer, type Recipe, startPrivateServer } from './private-server.ts'
import { obtainProgram, type WantedProgram } from './program.ts'

/** Where Debian and Ubuntu keep the versions of PostgreSQL, a folder each. */
const VERSIONS = '/usr/lib/postgresql'
const MAJORS = [18, 17, 16, 15]

/** The folder with the programs of the distribution's PostgreSQL, or with those that the environment names. */
function locate({ env, exists }: Machine): string | undefined {
  const folders = MAJORS.map((major) => join(VERSIONS, String(major), 'bin'))
  return env.POSTGRES_BIN || folders.find((folder) => exists(join(folder, 'postgres')))
}

/** What tests start servers of their own from; null where there is none. */
export interface Distribution {
  /** The folder with the programs of PostgreSQL. */
  postgres: string | null
  pgbouncer: string | null
}

/** Installed first if need be. */
export async function obtainDistribution(machine: Machine = thisMachine): Promise<Distribution> {
  return { postgres: await obtainPostgres(machine), pgbouncer: await obtainPgbouncer(machine) }
}

const obtainPostgres = (machine: Machine) =>
  programsOf(machine, {
    name: 'the distribution’s PostgreSQL',
    wanted: `PostgreSQL ${MAJORS.at(-1)} or later`,
    packages: MAJORS.map((major) => ({ names: [`postgresql-${major}`], makesCluster: true })),
    locate: () => locate(machine),
    variable: 'POSTGRES_BIN',
  })

const obtainPgbouncer = (machine: Machine) =>
  programsOf(machine, {
    name: 'PgBouncer',
    wanted: 'pgbouncer',
    packages: [{ names: ['pgbouncer'], service: 'pgbouncer' }],
    locate: () => machine.env.PGBOUNCER || find('pgbouncer', machine),
    variable: 'PGBOUNCER',
  })

async function programsOf(machine: Machine, wanted: WantedProgram): Promise<string | null> {
  const found = await obtainProgram(machine, wanted)
  return typeof found === 'string' ? found : null
}

export interface PostgresSettings {
  /** Arguments of initdb beside our own. */
  initdb?: readonly string[]
  /** Settings of the server; all others keep their defaults. */
  settings?: Record<string, string>
}

/**
 * The locale of a distribution's cluster is the system's, and that is rarely C. ICU's en-US is in every build, the
 * system's en_US.UTF-8 is not on every machine; both sort "a" before "B".
 */
const NOT_C = ['--locale-provider=icu', '--icu-locale=en-US']

/** A cluster of its own by the programs in this folder, with their defaults. Its superuser is postgres, without a password. */
export const startPrivatePostgres = (bin: string, options: PostgresSettings = {}): Promise<PrivateServer> =>
  startPrivateServer(recipe(bin, options))

const recipe = (bin: string, { initdb = NOT_C, settings = {} }: PostgresSettings): Recipe => ({
  name: 'PostgreSQL',
  ...asAccount(join(bin, 'postgres'), (data, port) => [
    ...['-D', data],
    ...Object.entries({
      port: String(port),
      listen_addresses: '127.0.0.1',
      // A path below a long TMPDIR would exceed what a socket's name may have.
      unix_socket_directories: '',
      ...settings,
    }).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]),
  initialise(data) {
    const account = accountForPostgres()
    if (account) {
      chmodSync(dirname(data), 0o711)
      chownSync(data, account.uid, account.gid)
    }
    const own = asAccount(join(bin, 'initdb'), () => [
      ...['-D', data, '--username=postgres', '--auth=trust', '--no-sync'],
      ...['--encoding=UTF8', '--locale=C.UTF-8', ...initdb],
    ])
    return { program: own.program, args: own.args(data, 0) }
  },
  url: (port) => `postgres://postgres@127.0.0.1:${port}/postgres`,
  // Smart shutdown, the default, waits for all connections to close.
  endsBy: 'SIGINT',
  async isUp(url, { data }) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
    client.on('error', () => undefined)
    try {
      await client.connect()
      const { rows } = await client.query('show data_directory')
      return realpathSync(rows[0].data_directory) === data
    } finally {
      await client.end()
    }
  },
})

type Args = (data: string, port: number) => string[]

/** PostgreSQL refuses to run as root. */
export function asAccount(program: string, args: Args): { program: string; args: Args } {
  const account = accountForPostgres()
  if (!account) return { program, args }
  const ids = [`--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups', '--']
  return { program: 'setpriv', args: (data, port) => [...ids, program, ...args(data, port)] }
}
