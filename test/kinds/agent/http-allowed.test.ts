import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/config.ts'
import { start } from '../../../src/start.ts'
import { scriptOf } from '../../support/clis/runs.ts'
import { expectRefusal, type Json, openWorkspace, type Workspace } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { eventually } from '../../support/recovery.ts'
import { type ServerUnderTest, startServer } from '../../support/server.ts'

/** The operator of a node decides what it runs, in every workspace. */

const NODE = process.execPath
const process_ = (more: Json = {}) => ({
  ...{ adapterType: 'process', coordinatorEnabled: false },
  adapterConfig: { command: NODE, args: ['--version'], ...more },
})

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-allowed-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A server for these tests, and its first workspace and another one, as clients see them. */
function useNode(env: Record<string, string>) {
  let server: ServerUnderTest
  let other: Workspace
  beforeAll(async () => {
    server = await startServer({ PATH: process.env.PATH!, HOME: folder, ...env })
    other = await openWorkspace(server)
  })
  afterAll(() => server.close())
  const first = (method: string, path: string, body?: unknown) => server.call(method, path, body)
  return {
    served: () => server,
    of: (which: 'first' | 'other'): typeof first => (which === 'first' ? first : other.call),
    /** Writes settings behind the server's back, as another node with another configuration would. */
    store: (call: typeof first, slug: string, type: string, config: Json) =>
      call('GET', `/agents/${slug}`).then(({ body: { id } }) =>
        superuser(server.databaseUrl, (client) =>
          client.query(
            `update baton.agents set adapter_type = $2, adapter_config = $3, state = 'idle', state_reason = null where agent_id = $1`,
            [id, type, JSON.stringify(config)],
          ),
        ),
      ),
  }
}

/** The next run of the agent, when it is over. */
async function runOf(call: Workspace['call'], slug: string) {
  const before = (await call('GET', `/agents/${slug}/runs`)).body.items.length
  expect((await call('POST', `/agents/${slug}/wakeup`, {})).status).toBe(202)
  return eventually(async () => {
    const { items } = (await call('GET', `/agents/${slug}/runs?include=result`)).body
    return items.length > before && items[0].finishedAt !== null && items[0]
  })
}

describe('a node without a policy of its operator', () => {
  const { of, store, served } = useNode({ BATON_AGENT_ADAPTERS: '' })

  test('runs any program for the first workspace', async () => {
    const first = of('first')
    expect((await first('PUT', '/agents/dev', process_())).status).toBe(201)
    expect(await runOf(first, 'dev')).toMatchObject({ status: 'succeeded' })
  })

  test.each(['process', 'claude_local', 'codex_local', 'gemini_local', 'opencode_local'])(
    'accepts no %s for another workspace',
    async (adapterType) => {
      const adapterConfig = adapterType === 'process' ? { command: NODE } : {}
      const answer = await of('other')('PUT', '/agents/dev', { adapterType, adapterConfig })
      expectRefusal(answer, 403, 'NOT_ALLOWED_HERE')
      expect(answer.body.errors[0]).toMatchObject({ field: 'adapterType' })
      expect(answer.body.detail).toContain('BATON_AGENT_ADAPTERS')
      expectRefusal(await of('other')('GET', '/agents/dev'), 404, 'NOT_FOUND')
    },
  )

  test('accepts agents for another workspace that run nothing here, and lists which', async () => {
    const other = of('other')
    const settings: Record<string, Json | null> = {
      external: null,
      simulated: { steps: [] },
      http: { url: 'http://127.0.0.1:9/' },
    }
    for (const [adapterType, adapterConfig] of Object.entries(settings))
      expect((await other('PUT', `/agents/${adapterType}`, { adapterType, adapterConfig })).status).toBe(201)
    const allowed = async (call: Workspace['call']) =>
      (await call('GET', '/adapters')).body.items
        .filter((kind: Json) => kind.allowed)
        .map((kind: Json) => kind.type)
    expect(await allowed(other)).toEqual(['http', 'simulated'])
    expect(await allowed(of('first'))).toContain('process')
  })

  test('does not run or probe what is stored nevertheless, and says why', async () => {
    const other = of('other')
    await other('PUT', '/agents/smuggled', { adapterType: 'simulated', adapterConfig: { steps: [] } })
    await store(other, 'smuggled', 'claude_local', { command: scriptOf('claude'), cwd: folder })
    const tried = (await other('POST', '/agents/smuggled/test', {})).body
    expect(tried.ok).toBe(false)
    expect(
      tried.checks.map(({ name }: Json) => name),
      'its program was not called',
    ).not.toContain('program')
    const run = await runOf(other, 'smuggled')
    expect(run).toMatchObject({ status: 'failed', errorCode: 'not_allowed_here', pid: null })
    expect(run.errorMessage).toContain('BATON_AGENT_ADAPTERS')
    expect((await other('GET', '/agents/smuggled')).body).toMatchObject({ state: 'error' })
  })

  test('sets no variable that makes programs load code, in any workspace; not even a stored one', async () => {
    const first = of('first')
    for (const name of ['LD_PRELOAD', 'NODE_OPTIONS', 'BASH_ENV', 'PATH', 'GIT_SSH_COMMAND']) {
      const answer = await first('PUT', '/agents/loader', process_({ env: { [name]: 'x', FINE: 'y' } }))
      expectRefusal(answer, 403, 'NOT_ALLOWED_HERE')
      expect(answer.body.errors).toEqual([
        { field: `adapterConfig.env.${name}`, message: expect.stringContaining('BATON_AGENT_ENV') },
      ])
    }
    await first('PUT', '/agents/loader', process_())
    await store(first, 'loader', 'process', { command: NODE, env: { NODE_OPTIONS: '--version' } })
    expect(await runOf(first, 'loader')).toMatchObject({ errorCode: 'not_allowed_here', pid: null })
  })

  test('understands ~ in a folder as the home of its user, and stores the whole path', async () => {
    const first = of('first')
    const cwdOf = async (cwd: string) => {
      expect((await first('PUT', '/agents/at-home', process_({ cwd }))).status).toBeLessThan(300)
      return (await first('GET', '/agents/at-home')).body.adapterConfig.cwd
    }
    expect([await cwdOf('~'), await cwdOf('~/shop'), await cwdOf('shop')]).toEqual([
      folder,
      join(folder, 'shop'),
      'shop',
    ])
    const tried = await first('POST', '/adapters/process/test', { config: { command: NODE, cwd: '~' } })
    expect(tried.body.checks).toContainEqual(
      expect.objectContaining({ name: 'folder', ok: true, detail: `${realpathSync(folder)} can be used.` }),
    )
    const data = `~/${relative(folder, served().dataFolder)}`
    expectRefusal(await first('PUT', '/agents/at-home', process_({ cwd: data })), 403, 'NOT_ALLOWED_HERE')
  })

  test('refuses the home of another user in a sentence', async () => {
    const answer = await of('first')('PUT', '/agents/guest', process_({ cwd: '~anna/shop' }))
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    expect(answer.body.detail).toBe(
      `adapterConfig.cwd: "~anna/shop" is not a folder: write ~/… for the home folder of Baton's user, or a whole path`,
    )
  })

  test('lets no agent work in the data folder, through links either, nor with stored settings', async () => {
    const first = of('first')
    const data = served().dataFolder
    symlinkSync(data, join(folder, 'link'))
    for (const cwd of [
      data,
      join(data, 'folders'),
      join(data, 'not-yet'),
      join(folder, 'link', 'run-logs'),
      `${data}/x/..`,
    ]) {
      const answer = await first('PUT', '/agents/inside', process_({ cwd }))
      expectRefusal(answer, 403, 'NOT_ALLOWED_HERE')
      expect(answer.body.errors).toEqual([{ field: 'adapterConfig.cwd', message: expect.any(String) }])
    }
    expect((await first('PUT', '/agents/inside', process_({ cwd: `${data}-beside` }))).status).toBe(201)
    for (const cwd of [data, join(folder, 'link')]) {
      await store(first, 'inside', 'process', { command: NODE, cwd })
      const run = await runOf(first, 'inside')
      expect(run).toMatchObject({ errorCode: 'invalid_working_directory', pid: null })
      expect(run.errorMessage).toContain('in the data folder')
    }
  })

  test('gives an agent without a cwd its own folder there', async () => {
    const first = of('first')
    await first(
      'PUT',
      '/agents/homely',
      process_({ args: ['-p', 'JSON.stringify({result: process.cwd()})'] }),
    )
    const { result } = await runOf(first, 'homely')
    expect(result.startsWith(served().dataFolder), result).toBe(true)
  })
})

describe('a node whose operator named adapters, commands and variables', () => {
  const { of, store } = useNode({
    BATON_AGENT_ADAPTERS: 'process',
    BATON_AGENT_COMMANDS: `${NODE}, git`,
    BATON_AGENT_ENV: 'GIT_AUTHOR_*',
  })

  test.each(['first', 'other'] as const)(
    'runs these programs and no others for the %s workspace',
    async (which) => {
      const call = of(which)
      expect((await call('PUT', '/agents/dev', process_({ env: { GIT_AUTHOR_NAME: 'Ada' } }))).status).toBe(
        201,
      )
      expect(await runOf(call, 'dev')).toMatchObject({ status: 'succeeded' })
      for (const command of ['/bin/sh', 'node', './node', '/usr/bin/git', join(folder, 'git')]) {
        const answer = await call('PUT', '/agents/dev', process_({ command }))
        expectRefusal(answer, 403, 'NOT_ALLOWED_HERE')
        expect(answer.body.detail).toContain('BATON_AGENT_COMMANDS')
      }
      expect((await call('PUT', '/agents/git', process_({ command: 'git' }))).status).toBe(201)
      expectRefusal(
        await call('PUT', '/agents/dev', process_({ env: { GIT_SSH_COMMAND: 'x' } })),
        403,
        'NOT_ALLOWED_HERE',
      )
      await store(call, 'dev', 'process', { command: '/bin/sh', args: ['-c', 'true'] })
      expect(await runOf(call, 'dev')).toMatchObject({ errorCode: 'not_allowed_here', pid: null })
    },
  )

  test('refuses another command of a verification, which fails that verification alone', async () => {
    const call = of('first')
    const args = ['--eval', `require('fs').writeFileSync('x', '')`]
    await call('PUT', '/agents/maker', { ...process_({ args }), coordinatorEnabled: true })
    const verifiedBy = (command: string) =>
      call('POST', '/tasks', { title: 'T', agent: 'maker', verification: { kind: 'command', command } })
    const inState = (id: string, state: string) =>
      eventually(async () => (await call('GET', `/tasks/${id}`)).body.state === state)
    const refused = (await verifiedBy('true')).body
    await inState(refused.id, 'awaiting_human')
    const { items } = (await call('GET', '/inbox')).body
    expect(items.find(({ about }: Json) => (about as Json).taskId === refused.id).reason).toContain(
      '"true" is not among the commands that BATON_AGENT_COMMANDS allows on this node',
    )
    expect((await call('GET', '/agents/baton')).body).toMatchObject({ state: 'idle' })
    // `git` alone ends with exit code 1: it ran, and its verdict sends the work back.
    const run = (await verifiedBy('git')).body
    await inState(run.id, 'awaiting_retry')
  })

  test('does not run the default program of an adapter unless it was named, too', async () => {
    const answer = await of('first')('PUT', '/agents/cli', { adapterType: 'claude_local' })
    expectRefusal(answer, 403, 'NOT_ALLOWED_HERE')
    expect(answer.body.errors).toMatchObject([{ field: 'adapterConfig.command' }])
  })
})

test('a node whose operator allows an unknown adapter does not start', async () => {
  const config = readConfig({
    BATON_DATA: join(folder, 'never'),
    BATON_PORT: '0',
    BATON_AGENT_ADAPTERS: 'proces',
  })
  await expect(start(config)).rejects.toThrow(
    'BATON_AGENT_ADAPTERS names "proces", but there is no such adapter.',
  )
})
