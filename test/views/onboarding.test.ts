import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Onboarding } from '../../src/views/onboarding/shapes.ts'
import { expectRefusal, type Json, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** The first minutes: what is on this machine, and settings that are tried before they are saved. */

let folder: string
let server: ServerUnderTest
const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')

/** Programs that say what real ones say; each call is noted. */
const PROGRAMS = {
  claude: `case "$*" in --version) echo '2.1.103 (Claude Code)';; 'auth status') echo '{"loggedIn": true}';; esac`,
  codex: `case "$*" in --version) echo 'codex-cli 0.166.0';; *) echo 'Not logged in: sk-proj-SECRET' >&2; exit 1;; esac`,
  opencode: `case "$*" in --version) echo 1.2.3;; esac`,
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-onboarding-'))
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const [name, script] of Object.entries(PROGRAMS)) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name} $*" >> "$HOME/calls"\n${script}\n`)
    chmodSync(join(bin, name), 0o755)
  }
  const PATH = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(':')
  server = await startServer({ PATH, HOME: folder })
})
afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const onboarding = async (w: Workspace) => {
  const { status, body } = await w.call('GET', '/onboarding')
  expect(status).toBe(200)
  return Onboarding.parse(body)
}

describe('what a first use needs', () => {
  test('names each agent program: found or how to install it, its version, logged in or how to log in', async () => {
    const w = await openWorkspace(server)
    const { clis, database, startMs } = await onboarding(w)
    expect(clis!.map(({ command }) => command)).toEqual(['claude', 'codex', 'gemini', 'opencode'])
    expect(clis).toMatchObject([
      { adapterType: 'claude_local', isFound: true, version: '2.1.103', login: 'in', hint: null, run: null },
      { adapterType: 'codex_local', isFound: true, version: '0.166.0', login: 'out', run: 'codex login' },
      { isFound: false, version: null, login: null, run: 'npm install -g @google/gemini-cli' },
      { isFound: true, version: '1.2.3', login: 'unknown', hint: null },
    ])
    expect(JSON.stringify(clis)).not.toContain('SECRET')
    expect(database).toEqual({ isEmbedded: false, version: expect.stringMatching(/^\d+/) })
    expect(startMs).toBeGreaterThan(0)
    expect((await onboarding(w)).dataFolder).toBe(server.dataFolder)
  })

  test('says as whom programs of agents run here, and which adapters run none', async () => {
    const w = await openWorkspace(server)
    const me = process.geteuid?.() === 0 ? 'root' : 'baton'
    expect((await onboarding(w)).agentsRunAs).toBe(me)
    const { items } = (await w.call('GET', '/adapters')).body
    const runsAs = Object.fromEntries(items.map(({ type, runsAs }: Json) => [type, runsAs]))
    expect(runsAs).toMatchObject({ claude_local: me, process: me, http: null, simulated: null })
  })

  test('starts each program once, however many ask at the same time', async () => {
    const w = await openWorkspace(server)
    const versions = () => calls().filter((call) => call === 'claude --version').length
    await until(async () => {
      const before = versions()
      await onboarding(w)
      return versions() > before
    })
    const before = versions()
    await Promise.all(Array.from({ length: 10 }, () => onboarding(w)))
    expect(versions() - before).toBeLessThanOrEqual(1)
  })

  test('tells programs only to those who may configure agents', async () => {
    const w = await openWorkspace(server)
    const { key } = (await w.post('/keys', { name: 'looks', role: 'viewer' })).body
    const { status, body } = await server.call('GET', '/onboarding', undefined, { key })
    expect([status, body.clis, body.agentsRunAs, body.dataFolder]).toEqual([200, null, null, null])
    const { items } = (await server.call('GET', '/adapters', undefined, { key })).body
    expect(items.filter(({ runsAs }: Json) => runsAs !== null)).toEqual([])
    expectRefusal(await server.call('POST', '/adapters/claude_local/test', {}, { key }), 403, 'FORBIDDEN')
  })

  test('tells whether there are tasks, agents and a demonstration, which can be started again', async () => {
    const w = await openWorkspace(server)
    expect(await onboarding(w)).toMatchObject({ hasTasks: false, hasAgents: false, demo: null })
    const first = await w.post('/demo')
    expect(first).toMatchObject({ status: 201, body: { missionId: first.body.id } })
    expect(await onboarding(w)).toMatchObject({
      hasTasks: true,
      hasAgents: false,
      demo: { missionId: first.body.missionId, state: 'running' },
    })
    const second = await w.post('/demo', { title: 'Once more' })
    expect(second.status).toBe(201)
    expect(second.body.missionId).not.toBe(first.body.missionId)
    await w.call('PUT', '/agents/dev-1', {})
    expect(await onboarding(w)).toMatchObject({
      hasAgents: true,
      demo: { missionId: second.body.missionId },
    })
  })
})

describe('settings that are not saved yet', () => {
  const tryOut = (w: Workspace, type: string, body?: Json) => w.post(`/adapters/${type}/test`, body)

  test('are tried as those of an agent are', async () => {
    const w = await openWorkspace(server)
    const good = await tryOut(w, 'claude_local', { config: { cwd: folder } })
    expect(good).toMatchObject({ status: 200, body: { type: 'claude_local', ok: true } })
    await w.call('PUT', '/agents/dev-1', { adapterType: 'claude_local', adapterConfig: { cwd: folder } })
    const { checks } = (await w.post('/agents/dev-1/test')).body
    expect(good.body.checks).toEqual(checks)
    const { body } = await tryOut(w, 'codex_local')
    expect(body.ok).toBe(false)
    expect(body.checks).toContainEqual(expect.objectContaining({ name: 'login', ok: false }))
    expect(body.checks).toContainEqual(
      expect.objectContaining({ name: 'folder', detail: 'The agent gets a folder of its own.' }),
    )
  })

  test('are refused in the words of saving them, by the names of the request', async () => {
    const w = await openWorkspace(server)
    const refused = await tryOut(w, 'claude_local', { config: { maxTurnsPerRun: 'many', cwd: folder } })
    expectRefusal(refused, 400, 'VALIDATION_FAILED')
    expect(refused.body.errors).toMatchObject([{ field: 'config' }])
    const forbidden = await tryOut(w, 'process', { config: { command: 'true', env: { LD_PRELOAD: 'x' } } })
    expectRefusal(forbidden, 403, 'NOT_ALLOWED_HERE')
    expect(forbidden.body.errors).toMatchObject([{ field: 'config.env.LD_PRELOAD' }])
    const inside = await tryOut(w, 'claude_local', { config: { cwd: server.dataFolder } })
    expectRefusal(inside, 403, 'NOT_ALLOWED_HERE')
    expectRefusal(await tryOut(w, 'parrot', {}), 404, 'NOT_FOUND')
    expectRefusal(await tryOut(w, 'claude_local', { agent: 'nobody' }), 404, 'NOT_FOUND')
  })

  test('are told all that is wrong with them at once, with the field of each problem', async () => {
    const w = await openWorkspace(server)
    const wrong = {
      config: {
        cwd: join(folder, 'nowhere'),
        command: 'no-such-program',
        timeoutSec: 0,
        env: { 'A=B': 'x' },
        promptTemplate: '{{task.titel}}',
      },
      runtimeConfig: { heartbeat: { intervalSec: -5 }, node: 'mars' },
    }
    const { status, body } = await tryOut(w, 'process', { ...wrong, all: true })
    expect([status, body.ok]).toEqual([200, false])
    const problems = body.checks.flatMap((check: Json) => check.problems ?? [])
    expect(problems.map(({ field }: Json) => field).sort()).toEqual([
      'adapterConfig.command',
      'adapterConfig.cwd',
      'adapterConfig.env.A=B',
      'adapterConfig.promptTemplate',
      'adapterConfig.timeoutSec',
      'runtimeConfig.heartbeat.intervalSec',
    ])
    const said = JSON.stringify(body.checks.map(({ detail, hint }: Json) => [detail, hint]))
    expect(said).not.toContain('adapterConfig')
    const pinned = await tryOut(w, 'process', {
      config: { command: 'true' },
      runtimeConfig: { node: 'mars' },
      all: true,
    })
    expect(pinned.body.checks.filter(({ ok }: Json) => !ok)).toMatchObject([
      { name: 'node', problems: [{ field: 'runtimeConfig.node' }] },
    ])
  })

  test('are told what the operator and the masks forbid beside the rest, and nothing of that is run', async () => {
    const w = await openWorkspace(server)
    const forbidden = {
      cwd: join(folder, 'nowhere'),
      command: 'true',
      env: { LD_PRELOAD: 'x', KEY: '********' },
    }
    const { status, body } = await tryOut(w, 'process', { config: forbidden, all: true })
    expect([status, body.ok]).toEqual([200, false])
    const fields = body.checks.flatMap((check: Json) => check.problems ?? []).map(({ field }: Json) => field)
    expect(fields.sort()).toEqual([
      'adapterConfig.cwd',
      'adapterConfig.env.KEY',
      'adapterConfig.env.LD_PRELOAD',
    ])
    expect(body.checks.map(({ name }: Json) => name)).not.toContain('program')
    const guest = await tryOut(w, 'process', { config: { cwd: '~anna/shop', command: 'true' }, all: true })
    expect(guest.body.checks.filter(({ ok }: Json) => !ok)).toMatchObject([
      {
        name: 'folder',
        problems: [{ field: 'adapterConfig.cwd', message: expect.stringContaining('~anna') }],
      },
    ])
  })

  test('take masked values from the agent they belong to, and from no other', async () => {
    const w = await openWorkspace(server)
    const adapterConfig = { cwd: folder, env: { ANTHROPIC_API_KEY: 'sk-ant-1' } }
    await w.call('PUT', '/agents/dev-1', { adapterType: 'claude_local', adapterConfig })
    const masked = (await w.call('GET', '/agents/dev-1')).body.adapterConfig
    const own = await tryOut(w, 'claude_local', { agent: 'dev-1', config: masked })
    expect(own.body.checks).toContainEqual(
      expect.objectContaining({ name: 'login', detail: 'It uses ANTHROPIC_API_KEY (not tested).' }),
    )
    expectRefusal(await tryOut(w, 'claude_local', { config: masked }), 400, 'VALIDATION_FAILED')
    const elsewhere = { agent: 'dev-1', config: { ...masked, command: 'codex' } }
    expectRefusal(await tryOut(w, 'claude_local', elsewhere), 400, 'VALIDATION_FAILED')
  })
})
