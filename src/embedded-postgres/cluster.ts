import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StartRefused } from '../pure/refusal.ts'
import type { Account } from './account.ts'
import type { Binaries } from './binaries.ts'
import { finished, type Launch } from './launch.ts'
import { serverMark } from './orphan.ts'

const UNFINISHED = 'cluster.new-'

export interface ClusterTools {
  folder: string
  binaries: Binaries
  account: Account | undefined
  launch: Launch
}

/**
 * Creates the cluster with its database and password atomically: under another name, then renamed.
 * Each attempt has its own name, since the initdb of a killed start may still be writing.
 */
export async function createCluster(tools: ClusterTools, cluster: string): Promise<void> {
  const { folder, binaries, account, launch } = tools
  for (const name of await readdir(folder)) {
    // What the initdb of a killed start is still writing is removed by the next start.
    if (name.startsWith(UNFINISHED))
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => {})
  }
  const draft = await mkdtemp(join(folder, UNFINISHED))
  try {
    if (account) await chown(draft, account.uid, account.gid)
    await run(launch, draft, binaries.initdb, [...INITDB, '--no-sync', '-D', draft])
    await setPassword(tools, draft, ['create database baton'])
    // Autovacuum visits every database that was ever used, several times a minute. Without the statistics of the setup it
    // knows only `baton`.
    await rm(join(draft, 'pg_stat', 'pgstat.stat'), { force: true })
    await run(launch, draft, binaries.initdb, ['--sync-only', '-D', draft])
    await rename(draft, cluster)
    await syncFolder(folder)
  } catch (error) {
    await rm(draft, { recursive: true, force: true }).catch(() => {})
    throw error
  }
}

const INITDB = [
  '--username=postgres',
  '--encoding=UTF8',
  // The same sort order on every machine, with Unicode rules for upper and lower case.
  '--locale=C',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--data-checksums',
  '--auth-host=scram-sha-256',
  // No connections by socket file. It also means that initdb needs no password, which would have to be in a file that the
  // database's account can read.
  '--auth-local=reject',
]

/** The password is in a file next to the cluster. If that file was lost, a new password is set. */
export async function passwordOf(tools: ClusterTools, cluster: string): Promise<string> {
  const path = join(tools.folder, 'password')
  if (!existsSync(path)) return await setPassword(tools, cluster)
  await chmod(path, 0o600)
  return (await readFile(path, 'utf8')).trim()
}

async function setPassword(tools: ClusterTools, cluster: string, statements: string[] = []): Promise<string> {
  const { binaries, folder, launch } = tools
  const password = randomBytes(24).toString('base64url')
  const commands = [`alter role postgres password '${password}'`, ...statements]
    .map((line) => `${line}\n`)
    .join('')
  // Single-user mode needs no password itself and reads its commands from a pipe, so no secret is in argv.
  const settings = [
    `${await serverMark(cluster)}`,
    'exit_on_error=on',
    'log_checkpoints=off',
    'log_min_error_statement=panic',
  ]
  const args = ['--single', '-D', cluster, ...settings.flatMap((setting) => ['-c', setting]), 'postgres']
  await run(launch, cluster, binaries.postgres, args, commands)
  await writeDurably(join(folder, 'password'), `${password}\n`)
  return password
}

async function run(
  launch: Launch,
  cluster: string,
  program: string,
  args: string[],
  input?: string,
): Promise<void> {
  const { code, complaint } = await finished(launch(program, args), input)
  if (code !== 0) throw new StartRefused(`Postgres could not set up its data in ${cluster}: ${complaint}.`)
}

async function writeDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.new`
  await rm(draft, { force: true })
  const file = await open(draft, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(draft, path)
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
