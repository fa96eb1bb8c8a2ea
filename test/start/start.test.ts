import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { connect, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { readConfig } from '../../src/config.ts'
import { canEnter } from '../../src/embedded-postgres/account.ts'
import { commandLineOf } from '../../src/embedded-postgres/process-identity.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { start } from '../../src/start.ts'
import { emptyDatabase } from '../support/database.ts'
import {
  allGone,
  allPids,
  compiledFile,
  killProcess,
  type Launched,
  type LaunchOptions,
  launch,
  ownerKeyIn,
  processesOn,
} from '../support/launched.ts'
import { dataFolder } from '../support/servers/data-folder.ts'

const isLinux = process.platform === 'linux'
const isRoot = process.geteuid?.() === 0
const nobody = { name: 'nobody', uid: 65534, gid: 65534 }

/**
 * A data folder with a database in it, for tests that neither need a fresh one nor break it, and the output of its first
 * start. It has an odd name, is below a private folder, and is given as a relative path at first.
 */
const ODD = `it's "my" dätä 日本 $HOME`
let used = ''
let first: { url: string; stdout: string; stderr: string; keyStatus: number; left: unknown[] }
let scratch = ''
const launched: Launched[] = []

beforeAll(async () => {
  used = await mkdtemp(join(dataFolder(), 'baton-start-test-used-'))
  await chmod(used, 0o700)
  const baton = startBaton({ BATON_DATA: ODD }, { cwd: used })
  const url = await baton.ready
  const { status } = await get(url, '/keys', ownerKeyIn(usedData()))
  await stopped(baton)
  const left = isLinux ? processesOn(used) : []
  first = { left, url, stdout: baton.stdout(), stderr: baton.stderr(), keyStatus: status }
})

afterAll(async () => {
  await rm(used, { recursive: true, force: true })
})

afterEach(async () => {
  for (const { child, ended } of launched.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  for (const folder of [used, scratch].filter(Boolean)) {
    for (const process_ of isLinux ? processesOn(folder) : []) killProcess(process_)
    if (isLinux) await allGone(folder)
  }
  if (scratch) await rm(scratch, { recursive: true, force: true })
  scratch = ''
})

const usedData = () => join(used, ODD)

async function scratchFolder(mode = 0o755): Promise<string> {
  scratch = await mkdtemp(join(dataFolder(), 'baton-start-test-'))
  await chmod(scratch, mode)
  return scratch
}

function startBaton(env: Record<string, string>, options?: LaunchOptions): Launched {
  const baton = launch(env, options)
  launched.push(baton)
  return baton
}

/** A start that must be refused: exit code 1, nothing on stdout, and this one sentence on stderr. */
async function refusal(env: Record<string, string>, options?: LaunchOptions): Promise<string> {
  const baton = startBaton(env, options)
  const ending = await baton.ended
  const said = baton.stderr()
  expect({ ...ending, stdout: baton.stdout() }, said).toEqual({ code: 1, signal: null, stdout: '' })
  expect(said).toMatch(/^[A-Z][^\n]*\.\n$/)
  expect(said.trim()).not.toMatch(/[.!?] [A-Z]/)
  return said.trim()
}

/** The one line of the log that a start writes: as whom agents run. */
const WARNING = /^\{"level":40,[^\n]*"msg":"([^"]*)"\}\n/m
/** What was said beside it. */
const besideWarning = (stderr: string) => stderr.replace(WARNING, '')

async function stopped(baton: Launched, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  baton.child.kill(signal)
  expect(await baton.ended, baton.stderr()).toEqual({ code: 0, signal: null })
}

/** Without a process of its own, where only the reason of a refusal is tested: what main does with every refusal is not. */
const startHere = (env: Record<string, string>) =>
  start(readConfig({ BATON_PORT: '0', BATON_LOG_LEVEL: 'silent', ...env }))

async function refusedHere(env: Record<string, string>): Promise<string> {
  const error = await startHere(env).then(
    (baton) => baton.stop().then(() => new Error('It started.')),
    (refused: Error) => refused,
  )
  expect(error).toBeInstanceOf(StartRefused)
  expect(error.message).toMatch(/^[A-Z][^\n]*\.$/)
  expect(error.message).not.toMatch(/[.!?] [A-Z]/)
  return error.message
}

/** Names, sizes and times of everything in a folder; null when it does not exist. */
async function listing(folder: string): Promise<string[] | null> {
  if (!existsSync(folder)) return null
  const names = (await readdir(folder, { recursive: true })).sort()
  return names.map((name) => {
    const { size, mtimeMs, mode } = statSync(join(folder, name))
    return `${name} ${size} ${mtimeMs} ${mode}`
  })
}

async function get(url: string, path: string, key: string): Promise<Response> {
  return fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
}

async function createTask(url: string, key: string, title: string): Promise<string> {
  const response = await fetch(`${url}/api/v1/tasks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ title }),
  })
  expect(response.status).toBe(201)
  return ((await response.json()) as { id: string }).id
}

async function ask(url: string, statement: string): Promise<pg.QueryResultRow[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}

/** Every table in a database, with its grants and its number of rows: what a refused start must leave unchanged. */
async function contentOf(url: string): Promise<string[]> {
  const rows = await ask(
    url,
    `select n.nspname || '.' || c.relname as name, c.relacl::text as rights,
            (xpath('//c/text()', query_to_xml(format('select count(*) as c from %I.%I', n.nspname, c.relname), false, true, '')))[1] as rows
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
  )
  return rows.map(({ name, rights, rows }) => `${name} ${rights} ${rows}`)
}

describe('a start is refused in one sentence and changes nothing', () => {
  /** One of each part that reads settings; the others are tested on the parts (config, logs-settings, adapters-registry). */
  test('DATABASE_URL=mysql://root:hunter2@localhost/baton', async () => {
    const data = join(await scratchFolder(), 'data')
    const said = await refusal({ DATABASE_URL: 'mysql://root:hunter2@localhost/baton', BATON_DATA: data })
    expect(said).toBe('DATABASE_URL must begin with postgres://.')
    expect(await listing(data)).toBeNull()
  })

  test.each([
    ['BATON_LOGS', 's3://key:hunter2@bucket', /^BATON_LOGS must not contain keys: /],
    ['BATON_ADAPTERS', './nowhere.mjs', /^There is no adapter at \.\/nowhere\.mjs\.$/],
  ])('%s=%s', async (name, value, sentence) => {
    const data = join(await scratchFolder(), 'data')
    expect(await refusedHere({ [name]: value, BATON_DATA: data })).toMatch(sentence)
    expect(await listing(data)).toBeNull()
  })

  test('a database address where no server listens', async () => {
    const data = join(await scratchFolder(), 'data')
    const port = await unusedPort()
    const url = `postgres://baton:hunter2@127.0.0.1:${port}/baton`
    const said = await refusedHere({ DATABASE_URL: url, BATON_DATA: data })
    expect(said).toBe(
      `The database cannot be used (postgres://127.0.0.1:${port}/baton): connect ECONNREFUSED 127.0.0.1:${port}.`,
    )
    expect(await listing(data)).toBeNull()
  })

  test('a wrong password, which is not repeated', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase()
    const url = new URL(database.url)
    url.password = 'hunter2'
    const said = await refusedHere({ DATABASE_URL: url.href, BATON_DATA: data })
    expect(said).toMatch(/^The database cannot be used .*password authentication failed/)
    expect(said).not.toContain('hunter2')
    expect(await contentOf(database.url)).toEqual([])
    expect(await listing(data)).toBeNull()
    await database.drop()
  })

  test('an unknown database', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase()
    await database.drop()
    const said = await refusedHere({ DATABASE_URL: database.url, BATON_DATA: data })
    expect(said).toMatch(/^The database cannot be used .*database "test_\w+" does not exist\.$/)
    expect(said).not.toContain(new URL(database.url).password)
    expect(await listing(data)).toBeNull()
  })

  test('a port that another program uses', async () => {
    const data = join(await scratchFolder(), 'data')
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port } = other.address() as { port: number }
    expect(await refusedHere({ BATON_PORT: String(port), BATON_DATA: data })).toBe(
      `Port ${port} is in use by another program; stop it or set BATON_PORT.`,
    )
    expect(await listing(data)).toBeNull()
    other.close()
  })

  test('a data folder below a file, and one that is a file', async () => {
    const file = join(await scratchFolder(), 'file')
    await writeFile(file, 'precious')
    for (const data of [file, join(file, 'below'), join(file, 'far', 'below')])
      expect(await refusedHere({ BATON_DATA: data })).toMatch(`The data folder ${data} is not writable (E`)
    expect(readFileSync(file, 'utf8')).toBe('precious')
  })

  // Not below /proc: there Node's own recursive mkdir never returns.
  test.skipIf(!isLinux)('a data folder where nothing can be written, not even by root', async () => {
    const readOnly = readFileSync('/proc/self/mounts', 'utf8')
      .split('\n')
      .map((line) => line.split(' '))
      .filter(
        ([, folder, , options]) => options?.split(',').includes('ro') && statSync(folder!).isDirectory(),
      )
      .map(([, folder]) => folder!)
    for (const folder of ['/sys', ...readOnly.slice(0, 2)]) {
      const data = join(folder, 'baton')
      expect(await refusedHere({ BATON_DATA: data })).toMatch(`The data folder ${data} is not writable (E`)
    }
  })

  test.skipIf(!isLinux || !isRoot || !canEnter(nobody, resolve(import.meta.dirname, '../..')))(
    "another user's data folder",
    async () => {
      const folder = await scratchFolder()
      await mkdir(join(folder, 'data'))
      for (const data of [join(folder, 'data'), join(folder, 'fresh', 'data')])
        expect(await refusal({ BATON_DATA: data }, { uid: nobody.uid, gid: nobody.gid })).toMatch(
          `The data folder ${data} is not writable (EACCES)`,
        )
      expect(await readdir(folder, { recursive: true })).toEqual(['data'])
    },
  )

  test('a database that is newer than the code, or was set up differently', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase()
    const first = await startHere({ DATABASE_URL: database.url, BATON_DATA: data })
    await first.stop()
    await ask(
      database.url,
      `insert into baton.schema_migrations (version, name, checksum) values (9999, '9999_future.sql', 'x')`,
    )
    const before = [await listing(data), await contentOf(database.url)]
    expect(await refusedHere({ DATABASE_URL: database.url, BATON_DATA: data })).toBe(
      'The database is newer than this Baton: it has 9999_future.sql, which this version does not know; start a newer Baton, or restore a backup from before the upgrade.',
    )
    expect([await listing(data), await contentOf(database.url)]).toEqual(before)

    await ask(database.url, `delete from baton.schema_migrations where version = 9999`)
    await ask(database.url, `update baton.schema_migrations set checksum = 'x' where version = 1`)
    expect(await refusedHere({ DATABASE_URL: database.url, BATON_DATA: data })).toMatch(
      /^The database was set up with another 0001_\w+\.sql than this Baton has\.$/,
    )
    await database.drop()
  })

  test('a role that is a superuser or owns the tables', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase()
    const env = { DATABASE_URL: database.url, BATON_DATA: data }
    expect(await refusedHere({ ...env, BATON_DATABASE_ROLE: 'postgres' })).toMatch(
      /^Baton does not run as the database role "postgres": it is a superuser/,
    )
    expect(await contentOf(database.url)).toEqual([])
    expect(await listing(data)).toBeNull()
    await database.drop()
  })

  test('a database that cannot hold all text, which is left untouched', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase(`encoding 'SQL_ASCII' locale 'C' template template0`)
    expect(await refusedHere({ DATABASE_URL: database.url, BATON_DATA: data })).toMatch(
      /^The database is encoded in SQL_ASCII, which cannot store all text; /,
    )
    expect(await contentOf(database.url)).toEqual([])
    await database.drop()
  })

  test('a role that is a superuser, on the embedded database, which is stopped again', async () => {
    await refusal({ BATON_DATA: usedData(), BATON_DATABASE_ROLE: 'postgres' })
    if (isLinux) expect(processesOn(used)).toEqual([])
    await startBaton({ BATON_DATA: usedData() }).ready
  })

  test('a data folder that another Baton is using, which continues', async () => {
    const first = startBaton({ BATON_DATA: usedData() })
    const url = await first.ready
    const before = await readdir(usedData())
    expect(await refusal({ BATON_DATA: usedData() })).toContain(
      `The data folder ${usedData()}/postgres is in use by another Baton server (process ${first.child.pid})`,
    )
    expect(await refusal({ BATON_DATA: usedData(), BATON_PORT: new URL(url).port })).toMatch(
      /^Port \d+ is in use/,
    )
    expect(await readdir(usedData())).toEqual(before)
    await createTask(url, ownerKeyIn(usedData()), 'still served')
    expect(first.child.exitCode).toBeNull()
  })
})

async function unusedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** What is printed until somebody has signed in. */
const readyWithLink = (url: string) =>
  expect.stringMatching(new RegExp(`^baton ready on ${url}\nsign in: ${url}/sign-in#[A-Za-z0-9_-]{43}\n$`))

describe('the first start', () => {
  test('creates the owner key for its owner alone, and prints its address and a link to sign in', () => {
    const { url, left: _left, stderr, ...said } = first
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(said).toEqual({ stdout: readyWithLink(url), keyStatus: 200 })
    expect(besideWarning(stderr)).toBe('')
    const file = statSync(join(usedData(), 'owner-key'))
    expect(file.mode & 0o777).toBe(0o600)
    expect(file.uid).toBe(process.geteuid?.())
    expect(statSync(usedData()).mode & 0o077).toBe(0)
  })

  test('warns once in its log that agents run as its user, and more strongly that they run as root', () => {
    const [, warning] = WARNING.exec(first.stderr) ?? []
    expect(warning).toMatch(
      isRoot ? /^Baton runs as root, and so do its agents/ : /^agents run as the user of Baton/,
    )
    for (const remedy of ['container', 'BATON_AGENT_COMMANDS', 'BATON_AGENT_ROOTS', 'docs/security.md'])
      expect(warning).toContain(remedy)
  })

  test('is followed by starts with the same key and the same tasks', async () => {
    const key = ownerKeyIn(usedData())
    const second = startBaton({ BATON_DATA: usedData() })
    const task = await createTask(await second.ready, key, 'kept')
    await stopped(second)

    const third = startBaton({ BATON_DATA: usedData() })
    const url = await third.ready
    expect(ownerKeyIn(usedData())).toBe(key)
    expect((await get(url, '/keys', 'baton_nobody_nobody_nobody')).status).toBe(401)
    expect(await (await get(url, `/tasks/${task}`, key)).json()).toMatchObject({ title: 'kept' })
    const { items } = (await (await get(url, '/keys', key)).json()) as { items: unknown[] }
    expect(items).toHaveLength(1)
    await stopped(third)
    expect(third.stdout()).toEqual(readyWithLink(url))
  })

  test('prints a link that signs in, and later starts print none once somebody has signed in', async () => {
    const second = startBaton({ BATON_DATA: usedData() })
    const url = await second.ready
    const [, token] = /\/sign-in#(\S+)$/m.exec(second.stdout())!
    const signIn = () =>
      fetch(`${url}/api/v1/session`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      })
    expect((await signIn()).status).toBe(201)
    expect((await signIn()).status).toBe(401)
    await stopped(second)
    const third = startBaton({ BATON_DATA: usedData() })
    const address = await third.ready
    const env = { PATH: process.env.PATH!, BATON_DATA: usedData(), BATON_URL: address }
    const asked = spawn(process.execPath, [compiledFile('scripts/link.ts')], { env })
    const [printed] = await Promise.all([text(asked.stdout), once(asked, 'close')])
    expect(printed).toMatch(new RegExp(`^sign in: ${address}/sign-in#[A-Za-z0-9_-]{43}\n$`))
    await stopped(third)
    expect([third.stdout(), besideWarning(third.stderr())]).toEqual([`baton ready on ${address}\n`, ''])
  })

  test('on an external database uses a key that was written before a crash, but not yet stored, and prints in one line what was found', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase()
    const key = `baton_${'k'.repeat(43)}`
    await mkdir(data)
    await writeFile(join(data, 'owner-key'), `${key}\n`, { mode: 0o600 })
    const baton = startBaton({ BATON_DATA: data, DATABASE_URL: database.url })
    expect((await get(await baton.ready, '/keys', key)).status).toBe(200)
    expect(ownerKeyIn(data)).toBe(key)
    await stopped(baton)
    await database.drop()
    // Beside the line that it is ready, one that says what was found.
    const { host, pathname } = new URL(database.url)
    expect(besideWarning(baton.stderr())).toMatch(
      /^The database \([^)]+\): PostgreSQL \d+\.\d+, UTF8, collation \S+, no standby\.\n$/,
    )
    expect(baton.stderr()).toContain(`postgres://${host}${pathname}`)
    expect(baton.stdout()).toEqual(readyWithLink(await baton.ready))
  })

  test('does not use half a key', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase()
    await mkdir(data)
    await writeFile(join(data, 'owner-key.new'), 'baton_half')
    await writeFile(join(data, 'owner-key'), 'baton_half', { mode: 0o600 })
    const baton = await startHere({ BATON_DATA: data, DATABASE_URL: database.url })
    expect(ownerKeyIn(data)).toMatch(/^baton_[\w-]{43}$/)
    expect(statSync(join(data, 'owner-key')).mode & 0o777).toBe(0o600)
    expect((await get(baton.url, '/keys', ownerKeyIn(data))).status).toBe(200)
    await baton.stop()
    await database.drop()
  })

  test('works in a folder with spaces, quotes and unicode below a private one, given as a relative path', () => {
    expect(existsSync(join(used, ODD, 'postgres'))).toBe(true)
    expect([first.keyStatus, first.left]).toEqual([200, []])
  })

  test.skipIf(!isLinux)('puts no secret on a command line or into the log, at any log level', async () => {
    const data = join(await scratchFolder(), 'data')
    const others = new Set(allPids())
    const baton = startBaton({ BATON_DATA: data, BATON_LOG_LEVEL: 'trace' })
    const commandLines = new Set<string>()
    let serving = false
    const looking = (async () => {
      while (!serving) {
        for (const pid of allPids()) if (!others.has(pid)) commandLines.add(commandLineOf(pid))
        await sleep(20)
      }
    })()
    const url = await baton.ready
    const key = ownerKeyIn(data)
    const password = readFileSync(join(data, 'postgres/password'), 'utf8').trim()
    const wrong = `baton_${'w'.repeat(43)}`
    await get(url, '/keys', wrong)
    await createTask(url, key, 'traced')
    const made = await fetch(`${url}/api/v1/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'ci' }),
    }).then((response) => response.json() as Promise<{ key: string }>)
    // Errors are logged too, with all their properties.
    for (const process_ of processesOn(join(data, 'postgres'))) killProcess(process_)
    await get(url, '/tasks', key).catch(() => undefined)
    serving = true
    await looking
    baton.child.kill('SIGTERM')
    await baton.ended

    const secrets = { key, password, wrong, made: made.key }
    const shown = [...commandLines, baton.stdout(), baton.stderr()].join('\n')
    expect([...commandLines].some((line) => line.includes(join(data, 'postgres')))).toBe(true)
    expect(baton.stderr()).toContain('"level":30')
    for (const [name, secret] of Object.entries(secrets)) expect(shown.includes(secret), name).toBe(false)
  })

  test('shows the password of DATABASE_URL nowhere', async () => {
    const data = join(await scratchFolder(), 'data')
    const database = await emptyDatabase()
    const baton = startBaton({ BATON_DATA: data, DATABASE_URL: database.url, BATON_LOG_LEVEL: 'trace' })
    const url = await baton.ready
    const commandLine = isLinux ? commandLineOf(baton.child.pid!) : ''
    await database.drop()
    await get(url, '/tasks', ownerKeyIn(data))
    await stopped(baton)
    const shown = [commandLine, baton.stdout(), baton.stderr()].join('\n')
    expect(shown).not.toContain(new URL(database.url).password)
    expect(shown).not.toContain(ownerKeyIn(data))
  })
})

/** A request whose headers the server has read, and whose body it still waits for. */
async function begunRequest(url: string, path: string, key: string) {
  const sent = request(`${url}/api/v1${path}`, {
    method: 'POST',
    agent: new Agent({ keepAlive: true }),
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', expect: '100-continue' },
  })
  const answer = once(sent, 'response').then(async ([response]) => ({
    status: (response as IncomingMessage).statusCode,
    body: JSON.parse(await text(response as IncomingMessage)),
  }))
  answer.catch(() => undefined)
  sent.flushHeaders()
  await once(sent, 'continue')
  return { finish: (body: object) => sent.end(JSON.stringify(body)), answer }
}

/** The port is closed: no new connection is accepted. */
async function untilNotServed(url: string): Promise<void> {
  for (;;) {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (!isOpen) return
    await sleep(5)
  }
}

/** No longer than anything here waits on its own: long polls wait 60 s, idle connections 72 s. */
const PROMPTLY = { timeout: 50_000 }

describe('a signal to stop', () => {
  /** Ends it with the signal, sent twice: with 0, and without anything left or said. */
  async function endedBy(baton: Launched, signal: NodeJS.Signals): Promise<void> {
    expect(await baton.ended, `${signal}: ${baton.stderr()}`).toEqual({ code: 0, signal: null })
    if (isLinux) expect(processesOn(used)).toEqual([])
    expect(besideWarning(baton.stderr())).toBe('')
  }
  const sendTwice = ({ child }: Launched, signal: NodeJS.Signals) => {
    child.kill(signal)
    child.kill(signal)
  }

  test(
    'SIGTERM lets a started request finish, SIGINT ends long polls, streams and sockets without waiting for them; both leave no database behind',
    PROMPTLY,
    async () => {
      const first = startBaton({ BATON_DATA: usedData() })
      const firstUrl = await first.ready
      if (isLinux) expect(processesOn(used).length).toBeGreaterThan(0)
      const key = ownerKeyIn(usedData())
      const begun = await begunRequest(firstUrl, '/tasks', key)
      sendTwice(first, 'SIGTERM')
      await untilNotServed(firstUrl)
      begun.finish({ title: 'begun before the signal' })
      const { status, body } = await begun.answer
      expect(status).toBe(201)
      await endedBy(first, 'SIGTERM')

      const baton = startBaton({ BATON_DATA: usedData() })
      const url = await baton.ready
      expect((await get(url, `/tasks/${body.id}`, key)).status).toBe(200)
      const headers = { authorization: `Bearer ${key}` }
      const poll = await begunRequest(url, '/claims/next', key)
      poll.finish({ agent: 'waiting', session: 'waiting', waitMs: 60_000 })
      const stream = await fetch(`${url}/api/v1/events/stream`, { headers })
      const reader = stream.body!.getReader()
      await reader.read()
      const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/events/ws`, { headers })
      await once(socket, 'open')

      const closed = once(socket, 'close')
      sendTwice(baton, 'SIGINT')
      await closed
      while (!(await reader.read()).done);
      expect([200, 503]).toContain((await poll.answer).status)
      await endedBy(baton, 'SIGINT')
    },
  )

  test.skipIf(!isLinux)('during the start leaves no database behind either', async () => {
    const folder = join(usedData(), 'postgres')
    const pidFile = join(folder, 'cluster/postmaster.pid')
    const baton = startBaton({ BATON_DATA: usedData() })
    // The database runs, and the server has yet to check it.
    const isReady = () => existsSync(pidFile) && /^ready\b/m.test(readFileSync(pidFile, 'utf8'))
    while (!isReady()) {
      expect(baton.child.exitCode, baton.stderr()).toBeNull()
      await sleep(5)
    }
    expect(processesOn(folder).length).toBeGreaterThan(0)
    baton.child.kill('SIGTERM')
    const ending = await baton.ended
    await Promise.race([allGone(folder), sleep(5_000)])
    expect(processesOn(folder), `left after ${JSON.stringify(ending)}`).toEqual([])
  })
})
