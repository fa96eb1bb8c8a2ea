import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { existsSync, readFileSync, statSync, watch } from 'node:fs'
import { chmod, chown, cp, mkdir, mkdtemp, readdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Account, accountForPostgres, canEnter } from '../../src/embedded-postgres/account.ts'
import { makeMissingLinks } from '../../src/embedded-postgres/binaries.ts'
import { lockFolder } from '../../src/embedded-postgres/folder-lock.ts'
import { commandLineOf, startOf } from '../../src/embedded-postgres/process-identity.ts'
import { onlyRootMayChange, sharedCopyOf } from '../../src/embedded-postgres/shared-copy.ts'
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../src/embedded-postgres/start.ts'
import { compiledFile } from '../support/launched.ts'
import { dataFolder } from '../support/servers/data-folder.ts'

const repository = resolve(import.meta.dirname, '../..')
const isRoot = process.geteuid?.() === 0
const account = accountForPostgres()
const nobody: Account = { name: 'nobody', uid: 65534, gid: 65534 }
const native = join(
  dirname(
    dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
  ),
  'native',
)

let used = ''
let scratch = ''
const servers: EmbeddedPostgres[] = []
const children: ChildProcess[] = []
const clients: Sql[] = []
/** Servers whose Baton server was killed, in case a test fails before the next start ends them. */
const left: { pid: number; start: string | undefined }[] = []

// Node cannot run TypeScript, and only another process can be killed with -9.
beforeAll(async () => {
  used = await mkdtemp(join(dataFolder(), 'baton-embedded-test-used-'))
  await chmod(used, 0o755)
  await (await startEmbeddedPostgres({ folder: usedFolder(), log: () => {} })).stop()
})

const CHILD = `
import { startEmbeddedPostgres } from ${JSON.stringify(compiledFile('src/embedded-postgres/start.ts'))}
const tell = (fact) => process.stdout.write(JSON.stringify(fact) + '\\n')
try {
  const server = await startEmbeddedPostgres({ folder: process.argv[1], log() {} })
  process.on('SIGTERM', () => server.stop().then(() => process.exit(0)))
  process.on('SIGUSR2', () => process.exit(7))
  tell({ url: server.url, pid: server.pid() })
} catch (error) {
  tell({ refused: error.name + ': ' + error.message })
}
`

afterAll(async () => {
  await rm(used, { recursive: true, force: true })
})

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.end()))
  for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL')
  await Promise.all(servers.splice(0).map((server) => server.stop()))
  for (const { pid, start } of left.splice(0))
    if (start && startOf(pid) === start) process.kill(pid, 'SIGQUIT')
  if (scratch) await rm(scratch, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  scratch = ''
})

async function scratchFolder(mode = 0o755): Promise<string> {
  scratch = await mkdtemp(join(dataFolder(), 'baton-embedded-test-'))
  await chmod(scratch, mode)
  return scratch
}

/** A folder as earlier starts left it, for tests that neither need a fresh one nor break it. */
function usedFolder(): string {
  return join(used, 'postgres')
}

async function copyOfUsedFolder(): Promise<string> {
  const folder = join(await scratchFolder(), 'postgres')
  execFileSync('cp', ['-a', usedFolder(), folder])
  return folder
}

async function start(folder: string, log: (line: string) => void = () => {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ folder, log })
  servers.push(server)
  return server
}

type Sql = ((text: TemplateStringsArray, ...values: unknown[]) => Promise<pg.QueryResultRow[]>) & {
  end: () => Promise<void>
}

/** One connection, reopened when the server comes back. */
function connect(url: string): Sql {
  const pool = new pg.Pool({ connectionString: url, max: 1, application_name: 'baton test' })
  pool.on('error', () => undefined)
  const query = async (text: TemplateStringsArray, ...values: unknown[]) => {
    const { rows } = await pool.query(
      text.reduce((all, part, i) => `${all}$${i}${part}`),
      values,
    )
    return rows
  }
  let ended: Promise<void> | undefined
  const sql = Object.assign(query, {
    end: () => {
      ended ??= pool.end()
      return ended
    },
  })
  clients.push(sql)
  return sql
}

interface Reported {
  url: string
  pid: number
  refused?: string
}

function spawnChild(
  folder: string,
  as: Partial<Account> = {},
): { child: ChildProcess; reported: Promise<Reported> } {
  const child = spawn(process.execPath, ['--input-type=module', '-e', CHILD, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: '/',
    ...(as.uid ? { uid: as.uid, gid: as.gid } : {}),
  })
  children.push(child)
  const reported = once(createInterface({ input: child.stdout! }), 'line').then(([line]) => {
    const fact = JSON.parse(line) as Reported
    if (fact.pid) left.push({ pid: fact.pid, start: startOf(fact.pid) })
    return fact
  })
  return { child, reported }
}

async function killed(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** For changes in processes that are not our children and so send no event. */
async function until(claim: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await claim())) await sleep(10)
}

async function listing(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).sort()
  return names.map((name) => `${name} ${statSync(join(folder, name)).mtimeMs}`)
}

test('a fresh folder becomes a durable UTF-8 database on 127.0.0.1 only', async () => {
  const folder = join(await scratchFolder(), 'postgres')
  const server = await start(folder)
  const sql = connect(server.url)
  const [row] = await sql`
    select current_database() as database, current_setting('server_encoding') as encoding,
      current_setting('data_checksums') as checksums, current_setting('listen_addresses') as address,
      current_setting('unix_socket_directories') as sockets, current_setting('password_encryption') as passwords,
      current_setting('fsync') || current_setting('synchronous_commit') || current_setting('full_page_writes') as durable,
      upper('é') as upper`
  expect(row).toEqual({
    database: 'baton',
    encoding: 'UTF8',
    checksums: 'on',
    address: '127.0.0.1',
    sockets: '',
    passwords: 'scram-sha-256',
    durable: 'ononon',
    upper: 'É',
  })
})

test('no database of a fresh folder but that of Baton has statistics, so autovacuum visits no other', async () => {
  const server = await start(join(await scratchFolder(), 'postgres'))
  const used = await connect(server.url)`select datname from pg_stat_database where xact_commit > 0`
  expect(used.map(({ datname }) => datname).filter((name) => name !== 'baton')).toEqual([])
})

test('the password is in one file that only the starting user reads, and in no command line', async () => {
  const folder = join(await scratchFolder(), 'postgres')
  const server = await start(folder)
  const file = join(folder, 'password')
  const password = new URL(server.url).password
  expect(readFileSync(file, 'utf8').trim()).toBe(password)
  expect(statSync(file)).toMatchObject({ uid: process.geteuid?.() })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(statSync(join(folder, 'cluster')).mode & 0o777).toBe(0o700)
  expect(commandLineOf(server.pid())).not.toContain(password)
  await expect(connect(server.url.replace(password, 'wrong'))`select 1`).rejects.toThrow(
    /password authentication/,
  )
})

test('a lost password file is rewritten with a new password', async () => {
  const folder = usedFolder()
  await rm(join(folder, 'password'))
  const again = await start(folder)
  expect(await connect(again.url)`select 1 as one`).toEqual([{ one: 1 }])
})

test('the second start recreates nothing', async () => {
  const folder = usedFolder()
  const made = ['PG_VERSION', 'pg_hba.conf', 'base'].map((name) => join(folder, 'cluster', name))
  const before = made.map((path) => statSync(path).birthtimeMs)
  await start(folder)
  expect(made.map((path) => statSync(path).birthtimeMs)).toEqual(before)
})

test("the caller's settings override the tuning but not what the start relies on", async () => {
  const folder = usedFolder()
  const settings = { work_mem: '9MB', max_connections: '17', listen_addresses: '*', log_line_prefix: 'x' }
  const server = await startEmbeddedPostgres({ folder, log: () => {}, settings })
  servers.push(server)
  const [row] = await connect(server.url)`
    select current_setting('work_mem') as memory, current_setting('max_connections') as connections,
      current_setting('listen_addresses') as address`
  expect(row).toEqual({ memory: '9MB', connections: '17', address: '127.0.0.1' })
})

test('spaces, quotes and unicode in the path work', async () => {
  const folder = join(await scratchFolder(), `it's "my" dätä 日本 $HOME \\ %p`, 'postgres')
  await (await start(folder)).stop()
  const again = await start(folder)
  expect(await connect(again.url)`select 1 as one`).toEqual([{ one: 1 }])
})

test('stop shuts the server down cleanly, may be called twice, and leaves the folder free', async () => {
  const folder = usedFolder()
  const lines: string[] = []
  const server = await start(folder, (line) => lines.push(line))
  const pid = server.pid()
  await Promise.all([server.stop(), server.stop()])
  expect(startOf(pid)).toBeUndefined()
  expect(existsSync(join(folder, 'cluster', 'postmaster.pid'))).toBe(false)
  expect(lines.at(-1)).toMatch(/database system is shut down/)
  await start(folder)
})

test('the server is in a process group of its own, so Ctrl-C in the terminal does not reach it', async () => {
  const server = await start(usedFolder())
  const group = execFileSync('ps', ['-o', 'pgid=', '-p', String(server.pid())], { encoding: 'utf8' })
  expect(Number(group)).toBe(server.pid())
})

test('a Baton server that exits without a stop stops its database', async () => {
  const { child, reported } = spawnChild(usedFolder())
  const { pid } = await reported
  child.kill('SIGUSR2')
  expect(await once(child, 'exit')).toEqual([7, null])
  await until(() => startOf(pid) === undefined)
})

test('a server orphaned by kill -9 is stopped cleanly and keeps its data', async () => {
  const folder = usedFolder()
  const { child, reported } = spawnChild(folder)
  const orphan = await reported
  const sql = connect(orphan.url)
  await sql`create table kept as select 42 as answer`
  await sql.end()
  await killed(child)
  expect(startOf(orphan.pid)).toBeDefined()

  const lines: string[] = []
  const server = await start(folder, (line) => lines.push(line))
  expect(startOf(orphan.pid)).toBeUndefined()
  expect(server.pid()).not.toBe(orphan.pid)
  expect(lines[0]).toContain(`process ${orphan.pid}`)
  // Not "was interrupted": the orphan wrote its last checkpoint.
  expect(lines.join('\n')).toContain('database system was shut down')
  expect(await connect(server.url)`select answer from kept`).toEqual([{ answer: 42 }])
})

test('a folder in use by a running Baton server is refused and unchanged', async () => {
  const folder = usedFolder()
  const { reported } = spawnChild(folder)
  const other = await reported
  const before = await readdir(folder)
  await expect(start(folder)).rejects.toThrow(
    new RegExp(`^The data folder ${folder} is in use by another Baton server`),
  )
  expect(await readdir(folder)).toEqual(before)
  expect(await connect(other.url)`select 1 as one`).toEqual([{ one: 1 }])
})

test('of several starts on one fresh folder exactly one wins', async () => {
  const folder = join(await scratchFolder(), 'postgres')
  const reported = await Promise.all([1, 2, 3, 4].map(() => spawnChild(folder).reported))
  const winners = reported.filter((fact) => fact.url)
  const refusals = reported.flatMap((fact) => fact.refused ?? [])
  expect(winners).toHaveLength(1)
  expect(refusals).toHaveLength(3)
  for (const refusal of refusals)
    expect(refusal).toMatch(/^StartRefused: .* is in use by another Baton server/)
  expect(await connect(winners[0]!.url)`select 1 as one`).toEqual([{ one: 1 }])
})

test('of several starts after a kill -9 exactly one wins', async () => {
  const folder = usedFolder()
  const first = spawnChild(folder)
  await first.reported
  await killed(first.child)
  const reported = await Promise.all([1, 2, 3, 4].map(() => spawnChild(folder).reported))
  expect(reported.filter((fact) => fact.url)).toHaveLength(1)
  expect(reported.filter((fact) => fact.refused?.startsWith('StartRefused'))).toHaveLength(3)
})

test('a start killed in the middle of initdb leaves nothing that the next start trusts', async () => {
  const folder = join(await scratchFolder(), 'postgres')
  await mkdir(folder, { recursive: true, mode: 0o711 })
  const unfinished = () =>
    readdir(folder).then((names) => names.filter((name) => name.startsWith('cluster.new-')))
  const begun = new Promise<void>((done) => {
    const watcher = watch(folder, (_, name) => {
      if (!name?.startsWith('cluster.new-')) return
      watcher.close()
      done()
    })
  })
  const { child } = spawnChild(folder)
  await begun
  await until(async () => (await unfinished()).some((name) => existsSync(join(folder, name, 'PG_VERSION'))))
  await killed(child)
  expect(existsSync(join(folder, 'cluster'))).toBe(false)
  expect(await unfinished()).toHaveLength(1)

  const server = await start(folder)
  expect(await connect(server.url)`select 1 as one`).toEqual([{ one: 1 }])
})

test('a server killed with -9 comes back on its port and no acknowledged commit is lost', async () => {
  const folder = usedFolder()
  const lines: string[] = []
  const server = await start(folder, (line) => lines.push(line))
  await connect(server.url)`create table acknowledged (id int primary key)`

  const sql = connect(server.url)
  const acknowledged: number[] = []
  let writing = true
  const writer = (async () => {
    for (let id = 0; writing; id++) {
      await sql`insert into acknowledged values (${id})`.then(
        () => acknowledged.push(id),
        () => sleep(5),
      )
    }
  })()

  for (let round = 1; round <= 3; round++) {
    const count = acknowledged.length
    await until(() => acknowledged.length > count + 100)
    const pid = server.pid()
    process.kill(pid, 'SIGKILL')
    await until(() => lines.filter((line) => line.startsWith('Postgres is running again')).length === round)
    expect(server.pid()).not.toBe(pid)
  }
  writing = false
  await writer

  const stored = await connect(server.url)`select id from acknowledged`
  const ids = new Set(stored.map((row) => row.id as number))
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
})

test('stop during a restart ends everything', async () => {
  const folder = usedFolder()
  const restarts = new EventEmitter()
  const server = await start(folder, (line) => {
    if (line.includes('Restarting it')) restarts.emit('begin')
  })
  process.kill(server.pid(), 'SIGKILL')
  await once(restarts, 'begin')
  await server.stop()
  expect(startOf(server.pid())).toBeUndefined()
  await start(folder)
})

test('a copied folder starts beside its running original', async () => {
  const folder = await copyOfUsedFolder()
  const original = await start(folder)
  const sql = connect(original.url)
  await sql`create table carried as select 42 as answer`
  await sql`checkpoint`
  const pid = original.pid()
  for (const flags of ['-r', '-a']) {
    const copy = join(scratch, `copy${flags}`)
    execFileSync('cp', [flags, folder, copy])
    expect(existsSync(join(copy, 'cluster', 'postmaster.pid'))).toBe(true)
    await chmod(join(copy, 'cluster'), 0o755)
    const server = await start(copy)
    expect(server.url).not.toBe(original.url)
    expect(await connect(server.url)`select answer from carried`).toEqual([{ answer: 42 }])
    expect(statSync(join(copy, 'cluster')).mode & 0o777).toBe(0o700)
  }
  expect(original.pid()).toBe(pid)
  expect(await sql`select answer from carried`).toEqual([{ answer: 42 }])
})

test('a moved folder starts', async () => {
  const folder = await copyOfUsedFolder()
  await rename(folder, join(scratch, 'moved'))
  await start(join(scratch, 'moved'))
})

test('a foreign process that has the pid of the old server is left alone', async () => {
  const folder = usedFolder()
  const foreign = spawn('sleep', ['60'], account ? { uid: account.uid, gid: account.gid } : {})
  children.push(foreign)
  await once(foreign, 'spawn')
  const pidFile = join(folder, 'cluster', 'postmaster.pid')
  await writeFile(pidFile, `${foreign.pid}\n${folder}/cluster\n1700000000\n5432\n\n127.0.0.1\n`)
  if (account) await chown(pidFile, account.uid, account.gid)
  await start(folder)
  expect(foreign.exitCode ?? foreign.signalCode).toBeNull()
})

test('the lock of another container is valid for as long as its file is touched', async () => {
  const folder = join(await scratchFolder(), 'postgres')
  await mkdir(folder)
  const lock = join(folder, 'lock.1')
  await writeFile(lock, JSON.stringify({ realm: 'another', pid: 7, startedAt: '1', folder: '1:1' }))
  const heartbeat = setInterval(() => utimes(lock, new Date(), new Date()), 100)
  try {
    await expect(lockFolder(folder, 1_000)).rejects.toThrow(
      /in use by another Baton server \(process 7 of another container/,
    )
  } finally {
    clearInterval(heartbeat)
  }
  await utimes(lock, new Date(Date.now() - 60_000), new Date(Date.now() - 60_000))
  await start(folder)
})

test('a file in place of the folder is refused in one sentence', async () => {
  const file = join(await scratchFolder(), 'file')
  await writeFile(file, 'precious')
  await expect(start(file)).rejects.toThrow(
    `The data folder ${file} cannot be created, because a file has its name`,
  )
  await expect(start(join(file, 'below'))).rejects.toThrow(/a file has its name/)
  expect(readFileSync(file, 'utf8')).toBe('precious')
})

test('a cluster of another major version is refused and unchanged', async () => {
  const folder = await copyOfUsedFolder()
  await writeFile(join(folder, 'cluster', 'PG_VERSION'), '15\n')
  const before = await listing(folder)
  await expect(start(folder)).rejects.toThrow(/was created by Postgres 15, but this Baton runs Postgres \d+/)
  expect(await listing(folder)).toEqual(before)
})

test('a cluster folder that is no cluster is refused and unchanged', async () => {
  const folder = join(await scratchFolder(), 'postgres')
  await mkdir(join(folder, 'cluster'), { recursive: true })
  await writeFile(join(folder, 'cluster', 'note'), 'mine')
  const before = await listing(folder)
  await expect(start(folder)).rejects.toThrow(/contains no Postgres database/)
  expect(await listing(folder)).toEqual(before)
})

test('libraries get their links where install scripts were blocked', async () => {
  const copy = join(await scratchFolder(), 'native')
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { target: string }[]
  await mkdir(join(copy, 'lib'), { recursive: true })
  await cp(join(native, 'pg-symlinks.json'), join(copy, 'pg-symlinks.json'))
  for (const name of await readdir(join(native, 'lib'))) await writeFile(join(copy, 'lib', name), '')
  for (const { target } of links) await rm(join(scratch, target))
  makeMissingLinks(copy)
  makeMissingLinks(copy)
  for (const { target } of links) expect(existsSync(join(scratch, target))).toBe(true)
})

const rootTest = test.skipIf(!isRoot || process.platform !== 'linux')
const ordinaryUserTest = test.skipIf(
  !isRoot ||
    process.platform !== 'linux' ||
    !canEnter(nobody, repository) ||
    !canEnter(nobody, process.execPath),
)

rootTest(
  'root starts it as another user below a 0700 folder, with the one permission that needs',
  async () => {
    const server = await start(join(await scratchFolder(0o700), 'data', 'postgres'))
    const status = readFileSync(`/proc/${server.pid()}/status`, 'utf8')
    expect(status).toMatch(new RegExp(`^Uid:\\s+${account!.uid}\\s+${account!.uid}\\s`, 'm'))
    expect(status).toMatch(/^CapEff:\s+0000000000000002$/m)
    expect(status).toMatch(/^Groups:\s*$/m)
    expect(await connect(server.url)`select 1 as one`).toEqual([{ one: 1 }])
  },
)

rootTest('root starts it without changing permissions where everyone may enter', async () => {
  const server = await start(join(await scratchFolder(0o755), 'postgres'))
  const status = readFileSync(`/proc/${server.pid()}/status`, 'utf8')
  expect(status).toMatch(new RegExp(`^Uid:\\s+${account!.uid}\\s`, 'm'))
  expect(status).toMatch(/^CapEff:\s+0000000000000000$/m)
})

rootTest(
  'binaries that the account cannot reach are copied completely to a place that only root can write',
  async () => {
    const closed = join(await scratchFolder(), 'closed')
    await cp(native, join(closed, 'native'), { recursive: true, verbatimSymlinks: true })
    await chmod(closed, 0o700)
    const open = join(scratch, 'open')
    await mkdir(open)
    await chmod(open, 0o777)
    const place = join(scratch, 'place')
    const copyTo = (places: string[]) =>
      sharedCopyOf(join(closed, 'native'), 'v1', account!, makeMissingLinks, places)

    await expect(copyTo([open])).rejects.toThrow(/users other than root may change it/)
    const [one, two] = await Promise.all([copyTo([open, place]), copyTo([place])])
    expect([one, two]).toEqual([join(place, 'v1'), join(place, 'v1')])
    expect(await readdir(place)).toEqual(['v1'])
    expect(onlyRootMayChange(one)).toBe(true)
    const names = async (folder: string) => (await readdir(folder, { recursive: true })).sort()
    expect(await names(one)).toEqual(await names(native))
    const { uid, gid } = account!
    expect(execFileSync(join(one, 'bin', 'postgres'), ['--version'], { uid, gid, encoding: 'utf8' })).toMatch(
      /^postgres/,
    )
  },
)

rootTest('an interrupted copy is not used', async () => {
  const place = join(await scratchFolder(), 'place')
  await mkdir(join(place, 'partial-abc', 'native', 'bin'), { recursive: true })
  await chmod(place, 0o755)
  const home = await sharedCopyOf(native, 'v1', account!, makeMissingLinks, [place])
  expect(existsSync(join(home, 'bin', 'postgres'))).toBe(true)
  expect(existsSync(join(home, 'share'))).toBe(true)
})

ordinaryUserTest('an ordinary user starts it, and starts it again after a kill -9', async () => {
  const folder = join(await scratchFolder(), 'mine')
  await mkdir(folder)
  await chown(folder, nobody.uid, nobody.gid)
  const first = spawnChild(join(folder, 'postgres'), nobody)
  const { pid } = await first.reported
  expect(statSync(`/proc/${pid}`).uid).toBe(nobody.uid)
  await killed(first.child)
  const second = spawnChild(join(folder, 'postgres'), nobody)
  expect(await connect((await second.reported).url)`select 1 as one`).toEqual([{ one: 1 }])
  second.child.kill('SIGTERM')
  expect(await once(second.child, 'exit')).toEqual([0, null])
})

ordinaryUserTest('a folder that the user may not write is refused in one sentence', async () => {
  const folder = await scratchFolder(0o755)
  await mkdir(join(folder, 'postgres'))
  for (const path of [join(folder, 'postgres'), join(folder, 'fresh', 'postgres')]) {
    const { reported } = spawnChild(path, nobody)
    expect((await reported).refused).toBe(
      `StartRefused: The data folder ${path} cannot be written by this user: change its owner or mode, or choose another folder with BATON_DATA.`,
    )
  }
  expect(await readdir(folder)).toEqual(['postgres'])
})

ordinaryUserTest("another user's cluster is refused in one sentence", async () => {
  const folder = await copyOfUsedFolder()
  await chown(folder, nobody.uid, nobody.gid)
  await chown(join(folder, 'cluster'), 0, 0)
  const { reported } = spawnChild(folder, nobody)
  expect((await reported).refused).toMatch(/^StartRefused: .* belongs to another user \(id 0\)/)
})
