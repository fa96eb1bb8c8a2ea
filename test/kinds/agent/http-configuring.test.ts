import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, type Json, type Workspace } from '../../support/http-workspace.ts'
import { superuser } from '../../support/nodes.ts'
import { type Fleet, useFleets } from '../../support/runs.ts'

/** Configuring what an agent runs needs more rights than operating it. */

const { served, fleet } = useFleets()
const PROCESS = { adapterType: 'process', adapterConfig: { command: process.execPath, args: ['--version'] } }
const MASK = '********'

/** Requests with a key of this role and these scopes. */
async function as(w: Workspace, role: string, scopes?: string[]) {
  const made = await w.post('/keys', { name: role, role, ...(scopes && { scopes }) })
  expect(made.status).toBe(201)
  return (method: string, path: string, body?: unknown) =>
    served().call(method, path, body, { key: made.body.key })
}

describe('a member', () => {
  let w: Fleet
  let member: Awaited<ReturnType<typeof as>>
  beforeAll(async () => {
    w = await fleet()
    member = await as(w, 'member')
    await w.put('dev', { ...PROCESS, runtimeConfig: { role: 'developer' }, coordinatorEnabled: false })
  })

  test.each<[string, Json, string]>([
    ['the adapter', { adapterType: 'claude_local' }, 'adapterType'],
    ['the adapter to none of ours', { adapterType: 'external' }, 'adapterType'],
    ['the settings of the adapter', { adapterConfig: { command: '/bin/true' } }, 'adapterConfig'],
    ['the settings to nothing', { adapterConfig: null }, 'adapterConfig'],
    ['the model that it is run with', { model: 'gpt-5' }, 'model'],
    ['when it is woken', { runtimeConfig: { heartbeat: { intervalSec: 1 } } }, 'runtimeConfig'],
  ])('does not change %s', async (_what, body, field) => {
    const before = await w.agent('dev')
    const answer = await member('PUT', '/agents/dev', { name: 'Mine', ...body })
    expectRefusal(answer, 403, 'FORBIDDEN')
    expect(answer.body.detail).toContain('"configure_agents"')
    expect(answer.body.errors).toEqual([{ field, message: expect.any(String) }])
    expect(await w.agent('dev'), 'nothing of it was written').toEqual(before)
  })

  test('registers agents that run elsewhere, and no others', async () => {
    expect((await member('PUT', '/agents/own', { adapterType: 'external', name: 'Own' })).status).toBe(201)
    expect((await member('PUT', '/agents/own-2', { capabilities: ['a'] })).status).toBe(201)
    expectRefusal(await member('PUT', '/agents/evil', PROCESS), 403, 'FORBIDDEN')
    expectRefusal(await member('PUT', '/agents/evil', { adapterConfig: {} }), 403, 'FORBIDDEN')
    expectRefusal(await w.call('GET', '/agents/evil'), 404, 'NOT_FOUND')
  })

  test('renames, pauses, resumes and wakes the agents of others', async () => {
    const renamed = await member('PUT', '/agents/dev', {
      ...{ name: 'Renamed', adapterType: 'process', adapterConfig: PROCESS.adapterConfig },
      runtimeConfig: { role: 'developer' },
    })
    expect([renamed.status, renamed.body.name]).toEqual([200, 'Renamed'])
    for (const act of ['pause', 'resume'])
      expect((await member('POST', `/agents/dev/${act}`)).status).toBe(200)
    expect((await member('POST', '/agents/dev/wakeup')).status).toBe(202)
    const [run] = await w.over('dev')
    expect(run).toMatchObject({ status: 'succeeded' })
    expect((await w.agent('dev')).adapterConfig).toEqual(PROCESS.adapterConfig)
  })

  test('neither probes an agent nor reads its prompt', async () => {
    for (const [method, path] of [
      ['POST', '/agents/dev/test'],
      ['GET', '/agents/dev/prompt-preview'],
    ] as const) {
      const answer = await member(method, path, method === 'POST' ? {} : undefined)
      expectRefusal(answer, 403, 'FORBIDDEN')
      expect(answer.body.detail).toContain('"configure_agents"')
    }
  })

  test('sees no adapter settings, wherever agents are shown; nor does a viewer or a run', async () => {
    const viewer = await as(w, 'viewer')
    const { home } = await w.script(
      'curious',
      `import { writeFileSync } from 'node:fs'
       const answer = await fetch(process.env.BATON_URL + '/api/v1/agents/dev',
         { headers: { authorization: 'Bearer ' + process.env.BATON_API_KEY } })
       console.log(JSON.stringify({ result: await answer.json() }))`,
      { coordinatorEnabled: false },
    )
    await w.wake('curious')
    const [{ result }] = await w.over('curious')
    expect(home).toBeDefined()
    const shown = [
      (await member('GET', '/agents/dev')).body,
      (await viewer('GET', '/agents/dev')).body,
      (await viewer('GET', '/agents')).body.items.find(({ slug }: Json) => slug === 'dev'),
      (await member('PUT', '/agents/dev', { name: 'Again' })).body,
      (await member('POST', '/agents/dev/pause')).body,
      (await member('POST', '/agents/dev/resume')).body,
      result,
    ]
    for (const agent of shown)
      expect(agent).toMatchObject({ slug: 'dev', adapterConfig: null, adapterConfigHidden: true })
    expect((await member('GET', '/agents/own-2')).body).toMatchObject({ adapterConfigHidden: false })
    expect(await w.agent('dev')).toMatchObject({ ...PROCESS, adapterConfigHidden: false })
  })
})

test('admins configure, and keys whose scopes name it; other keys do not', async () => {
  const w = await fleet()
  const body = { adapterType: 'simulated', adapterConfig: { steps: [] } }
  expect((await (await as(w, 'admin'))('PUT', '/agents/a', body)).status).toBe(201)
  const scoped = await as(w, 'admin', ['operate', 'configure_agents'])
  expect((await scoped('PUT', '/agents/b', body)).status).toBe(201)
  expect((await scoped('POST', '/agents/b/test')).status).toBe(200)
  expectRefusal(
    await (await as(w, 'admin', ['operate', 'admin']))('PUT', '/agents/c', body),
    403,
    'FORBIDDEN',
  )
  const beyond = await (await as(w, 'admin', ['admin', 'read']))('POST', '/keys', {
    ...{ name: 'x', role: 'admin', scopes: ['configure_agents'] },
  })
  expectRefusal(beyond, 403, 'FORBIDDEN')
})

describe('a mask', () => {
  const URL = 'http://127.0.0.1:9/ask'
  const http = (more: Json = {}) => ({
    adapterType: 'http',
    adapterConfig: { url: URL, headers: { authorization: 'Bearer owners-secret', 'x-b': 'second' }, ...more },
  })
  const masked = { authorization: MASK, 'x-b': MASK }
  const program = (more: Json = {}) => ({
    adapterType: 'process',
    adapterConfig: {
      ...{ command: process.execPath, args: ['--version'], cwd: '/tmp' },
      ...{ env: { KEY_A: 'first-value', KEY_B: 'second-value' }, ...more },
    },
  })
  const hidden = { env: { KEY_A: MASK, KEY_B: MASK } }

  test.each<[string, Json, Json, string]>([
    ['another address', http(), http({ url: 'http://127.0.0.1:1/mine', headers: masked }), 'url'],
    ['another method', http(), http({ method: 'PUT', headers: masked }), 'method'],
    ['another command', program(), program({ command: '/bin/sh', ...hidden }), 'command'],
    ['other arguments', program(), program({ args: ['-e', 'leak()'], ...hidden }), 'args'],
    ['another folder', program(), program({ cwd: '/', ...hidden }), 'cwd'],
    ['one more variable', program(), program({ env: { ...hidden.env, KEY_C: 'new' } }), 'env'],
    ['one variable less', program(), program({ env: { KEY_A: MASK } }), 'env'],
    ['another value beside it', program(), program({ env: { KEY_A: MASK, KEY_B: 'http://mine' } }), 'env'],
    [
      'a variable that is no longer named as secret',
      program({ secretEnv: ['KEY_A', 'KEY_B'] }),
      program({ ...hidden, secretEnv: ['KEY_B'] }),
      'secretEnv',
    ],
    [
      'another adapter',
      program(),
      { adapterType: 'claude_local', adapterConfig: { ...hidden, cwd: '/tmp' } },
      'adapterType',
    ],
  ])('does not keep the old value with %s', async (_what, before, after, changed) => {
    const w = await fleet()
    await w.put('dev', before)
    const answer = await w.call('PUT', '/agents/dev', after)
    expectRefusal(answer, 400, 'VALIDATION_FAILED')
    expect(answer.body.detail).toMatch(/^Send the value again: adapterConfig\.(headers|env)\./)
    expect(answer.body.errors[0].message).toContain(changed)
    expect((await w.agent('dev')).version).toBe(1)
  })

  test('keeps it while only prompt, times, model or other headers change', async () => {
    const heard: (string | undefined)[] = []
    const agent = createServer((request, response) => {
      heard.push(
        request.headers.authorization,
        request.headers['x-b'] as string,
        request.headers['x-c'] as string,
      )
      response.setHeader('content-type', 'application/json').end('{"result":1}')
    }).listen(0, '127.0.0.1')
    await once(agent, 'listening')
    const url = `http://127.0.0.1:${(agent.address() as AddressInfo).port}/`
    const w = await fleet()
    await w.put('dev', { ...http({ url }), coordinatorEnabled: false })
    await w.put(
      'dev',
      http({ url, headers: { ...masked, 'x-c': 'third' }, promptTemplate: 'Go', timeoutSec: 5 }),
    )
    await w.wake('dev')
    await w.over('dev')
    agent.close()
    expect(heard).toEqual(['Bearer owners-secret', 'second', 'third'])
    await w.put('cli', {
      adapterType: 'claude_local',
      adapterConfig: { ...hidden, env: { KEY_A: 'first-value' } },
    })
    await w.put('cli', { adapterConfig: { env: { KEY_A: MASK }, model: 'opus', maxTurnsPerRun: 3 } })
    await w.put('cli', { adapterConfig: { env: { KEY_A: MASK }, model: 'opus', secretEnv: ['KEY_A'] } })
  })

  test('covers all settings of an adapter that this node does not have', async () => {
    const w = await fleet()
    await w.put('dev', http())
    const { id } = await w.agent('dev')
    await superuser(served().databaseUrl, (client) =>
      client.query(
        `update baton.agents set adapter_type = 'gone', adapter_config = '{"apiKey":"clear-text-key","deep":{"a":1}}' where agent_id = $1`,
        [id],
      ),
    )
    expect((await w.agent('dev')).adapterConfig).toEqual({ apiKey: MASK, deep: MASK })
    expect(JSON.stringify((await w.call('GET', '/agents')).body)).not.toContain('clear-text-key')
    const moved = { adapterType: 'simulated', adapterConfig: { steps: MASK } }
    expectRefusal(await w.call('PUT', '/agents/dev', moved), 400, 'VALIDATION_FAILED')
  })
})

test('more than 64 kB of env and headers are refused, and nothing is written', async () => {
  const w = await fleet()
  const env = (bytes: number) => ({ A: 'x'.repeat(40_000), B: 'ä'.repeat((bytes - 40_002) / 2) })
  const put = (bytes: number) =>
    w.call('PUT', '/agents/dev', { ...PROCESS, adapterConfig: { ...PROCESS.adapterConfig, env: env(bytes) } })
  const answer = await put(65_538)
  expectRefusal(answer, 400, 'VALIDATION_FAILED')
  expect(answer.body.detail).toContain('env and headers have 65538 bytes in total; at most 65536 are allowed')
  expectRefusal(await w.call('GET', '/agents/dev'), 404, 'NOT_FOUND')
  expect((await put(65_536)).status).toBe(201)
})
