import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adapterConformance } from '../support/adapter-conformance.ts'
import ollama from '../support/adapters/ollama.ts'
import { compiledFile } from '../support/launched.ts'
import { eventually } from '../support/recovery.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** An adapter as third parties write it: against `baton/adapter` alone, compiled separately, named in BATON_ADAPTERS. */

const FIXTURE = 'test/support/adapters/ollama.ts'
/** One with a bug. */
const GRENADE = `export default {
  type: 'grenade',
  protocolVersion: 'agent-run/v1',
  capabilities: { resumableSession: false, statusUpdates: false, logStreaming: false, tokenUsage: false },
  usesFolder: false,
  validateConfig: () => ({ ok: true }),
  async invoke({ prompt }) { throw new Error('it went off: ' + prompt) },
}`

let model: Server
let url: string
let folder: string
let baton: ServerUnderTest

beforeAll(async () => {
  model = createServer(async (request, response) => {
    const { model: name, prompt } = JSON.parse(await text(request))
    const say = (line: object) => response.write(`${JSON.stringify(line)}\n`)
    if (name === 'absent') return response.writeHead(404).end()
    say({ response: 'You said: ', done: false })
    if (name === 'endless') return
    say({ response: prompt, done: false })
    say({ response: '', done: true, prompt_eval_count: 7, eval_count: 11 })
    response.end()
  })
  await new Promise<void>((resolve) => model.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`
  folder = mkdtempSync(join(tmpdir(), 'baton-third-party-'))
  const grenade = join(folder, 'grenade.mjs')
  writeFileSync(grenade, GRENADE)
  baton = await startServer({ BATON_ADAPTERS: `${compiledFile(FIXTURE)}, ${grenade}` })
})

afterAll(async () => {
  await baton?.close()
  rmSync(folder, { recursive: true, force: true })
  model.closeAllConnections()
  model.close()
})

const asked = (name: string) => () => ({ adapterConfig: { url, model: name } })

adapterConformance('one of a third party', {
  adapter: ollama,
  succeeds: asked('parrot'),
  fails: asked('absent'),
  lasts: asked('endless'),
  badConfigs: [
    [{}, 'url must be'],
    [{ url: 'nowhere', model: 'parrot' }, 'url must be'],
    [{ url: 'http://127.0.0.1', model: '' }, 'model must be'],
    [{ url: 'http://127.0.0.1', model: 'parrot', command: 'sh' }, 'command is not a setting of ollama'],
  ],
})

test('a third-party adapter is listed beside the others, and runs agents', async () => {
  const { body: adapters } = await baton.call('GET', '/adapters')
  const listed = adapters.items.find(({ type }: { type: string }) => type === 'ollama')
  expect(listed).toMatchObject({ configSchema: { required: ['url', 'model'] } })

  const adapterConfig = { url, model: 'parrot', promptTemplate: 'Please: {{task.title}}' }
  const settings = { adapterType: 'ollama', adapterConfig, runtimeConfig: {} }
  expect((await baton.call('PUT', '/agents/bird', settings)).status).toBeLessThan(300)
  const { body: task } = await baton.call('POST', '/tasks', { title: 'Sing', agent: 'bird' })
  const done = await eventually(async () => {
    const { body } = await baton.call('GET', `/tasks/${task.id}`)
    return body.state === 'completed' && body
  })
  expect(done).toMatchObject({ state: 'completed' })
  const { body: results } = await baton.call('GET', `/tasks/${task.id}/results`)
  expect(JSON.stringify(results)).toContain('You said: Please: Sing')

  const run = await eventually(async () => {
    const { body } = await baton.call('GET', '/agents/bird/runs')
    return body.items[0]?.status === 'succeeded' && body.items[0]
  })
  expect(run).toMatchObject({
    taskId: task.id,
    provider: 'ollama',
    model: 'parrot',
    ...{ tokens: { input: 7, output: 11 }, usageBasis: 'reported' },
  })
  const { body: log } = await baton.call('GET', `/runs/${run.id}/log`)
  expect(log.content).toContain('You said: Please: Sing')
})

test('an adapter that throws fails its run with the reason, and nothing else', async () => {
  const adapterConfig = { promptTemplate: '{{task.title}}' }
  await baton.call('PUT', '/agents/grenade', { adapterType: 'grenade', adapterConfig })
  const { body: task } = await baton.call('POST', '/tasks', { title: 'Sit still', agent: 'grenade' })
  const run = await eventually(async () => {
    const { body } = await baton.call('GET', `/tasks/${task.id}/runs`)
    return body.items[0]?.status === 'failed' && body.items[0]
  })
  expect(run).toMatchObject({ errorCode: 'adapter_error', errorMessage: 'it went off: Sit still' })
  const { body: after } = await baton.call('GET', `/tasks/${task.id}`)
  expect(after).toMatchObject({ state: 'awaiting_retry', error: 'it went off: Sit still' })
})

test('a third-party adapter’s objection to settings is shown to the user', async () => {
  const settings = { adapterType: 'ollama', adapterConfig: { url, model: 'parrot', moel: 'x' } }
  const { status, body } = await baton.call('PUT', '/agents/typo', settings)
  expect(status).toBe(400)
  expect(JSON.stringify(body)).toContain('moel is not a setting of ollama.')
})

test('the example of docs/adapters.md is the adapter that is tested here', () => {
  const [, example] = /```ts\n(.*?)```/s.exec(readFileSync('docs/adapters.md', 'utf8'))!
  expect(example).toBe(readFileSync(FIXTURE, 'utf8'))
})
