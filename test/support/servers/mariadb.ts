import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import type { RowDataPacket } from 'mysql2/promise'
import { find, type Machine, thisMachine } from './machine.ts'
import { withMysql } from './mysql-database.ts'
import { type Kind, locateOrThrow, obtain, type Server, type Skipped } from './obtain.ts'
import { type PrivateServer, type Recipe, startPrivateServer } from './private-server.ts'

interface Programs {
  server: string
  /** What makes the data: MariaDB has a script for it, MySQL's server does it itself. */
  script: string | undefined
}

const MARIADB: Kind<Programs> = {
  name: 'MariaDB',
  wanted: 'mariadbd (with mariadb-install-db) or mysqld',
  variables: ['MARIADB_URL', 'MYSQL_URL'],
  // The service is in another package. The script needs my_print_defaults, which is with the client.
  packages: ['', '-10.6', '-10.5'].map((version) => ({
    names: [`mariadb-server-core${version}`, `mariadb-client-core${version}`],
  })),
  async locate(machine) {
    const [mariadbd, script, needed, mysqld] = [
      'mariadbd',
      'mariadb-install-db',
      'my_print_defaults',
      'mysqld',
    ].map((program) => find(program, machine))
    if (mariadbd) return script && needed ? { server: mariadbd, script } : undefined
    return mysqld ? { server: mysqld, script: undefined } : undefined
  },
  startPrivate: (programs) => startPrivateServer(recipe(programs, [])),
}

/** The MariaDB or MySQL for the test run, as a user who may make databases. */
export const startMariadb = (machine: Machine = thisMachine): Promise<Server | Skipped> =>
  obtain(MARIADB, machine)

/** One of its own for a test; these arguments override ours. */
export async function startPrivateMariadb(
  args: readonly string[] = [],
  machine: Machine = thisMachine,
): Promise<PrivateServer> {
  return startPrivateServer(recipe(await locateOrThrow(MARIADB, machine), args))
}

export const canStartPrivateMariadb = async (): Promise<boolean> =>
  (await MARIADB.locate(thisMachine)) !== undefined

/** `loose` options are for one of the two, and ignored by the other. */
const onData = (data: string): string[] => [
  // Has to come first.
  '--no-defaults',
  `--datadir=${data}`,
  // Of its own: a server that starts removes what others left in the common one, even if they still use it.
  `--tmpdir=${dirname(data)}`,
  // As root it would look for an account that cannot enter our folder.
  ...(thisMachine.isRoot ? ['--user=root'] : []),
  '--innodb-buffer-pool-size=64M',
  '--loose-innodb-log-file-size=16M',
]

const BY_SCRIPT = [
  // The root of the database needs no password, and need not be root of the machine.
  '--auth-root-authentication-method=normal',
  // Even where the machine cannot look up its own name, as in a bare container.
  '--force',
  '--skip-test-db',
]

const SERVING = [
  '--skip-networking=OFF',
  '--bind-address=127.0.0.1',
  // Relative to the data: a path below a long TMPDIR would exceed what a socket's name may have.
  '--socket=server.sock',
  '--pid-file=server.pid',
  '--loose-mysqlx=OFF',
  '--max-connections=200',
  '--character-set-server=utf8mb4',
  '--innodb-flush-log-at-trx-commit=1',
  '--skip-log-bin',
  '--performance-schema=OFF',
]

const recipe = ({ server, script }: Programs, extra: readonly string[]): Recipe => ({
  name: 'MariaDB',
  program: server,
  url: (port) => `mysql://root@127.0.0.1:${port}/`,
  initialise: (data) =>
    script
      ? { program: script, args: [...onData(data), ...BY_SCRIPT] }
      : { program: server, args: [...onData(data), '--initialize-insecure'] },
  args: (data, port) => [
    ...onData(data),
    ...SERVING,
    // MySQL's own is a folder that its service package would have made.
    `--secure-file-priv=${data}`,
    `--port=${port}`,
    ...extra,
  ],
  async isUp(url, { data }) {
    const [rows] = await withMysql(url, (client) =>
      client.query<RowDataPacket[]>({ sql: 'select @@datadir as folder', timeout: 2_000 }),
    )
    return realpathSync(rows[0]!.folder) === data
  },
})
