import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PROMPT_VARIABLES } from '../../src/kinds/run/prompts/variables.ts'
import { RUN_ERRORS, type RunErrorCode } from '../../src/kinds/run/rules/outcomes.ts'
import { type ServerUnderTest, startServer } from '../support/server.ts'

/** The commands of the README, run as written, in a folder that looks like a new user's. */

let server: ServerUnderTest
const folder = mkdtempSync(join(tmpdir(), 'baton-readme-'))

/** The part of curl that the documents need, for machines without it. */
const CURL = `#!${process.execPath}
const headers = {}
let url, body, method
const args = process.argv.slice(2)
while (args.length > 0) {
  const arg = args.shift()
  if (arg === '-H') { const [name, value] = args.shift().split(/: (.*)/); headers[name] = value }
  else if (arg === '-d') body = args.shift()
  else if (arg === '--data-binary') body = require('node:fs').readFileSync(args.shift().slice(1), 'utf8')
  else if (arg === '-X') method = args.shift()
  else if (arg !== '-s') url = arg
}
fetch(url, { headers, body, method: method ?? (body === undefined ? 'GET' : 'POST') })
  .then((answer) => answer.text())
  .then((text) => process.stdout.write(text))
`

beforeAll(async () => {
  server = await startServer()
  mkdirSync(join(folder, '.baton'))
  writeFileSync(join(folder, '.baton/owner-key'), `${server.ownerKey}\n`)
  writeFileSync(join(folder, 'curl'), CURL)
  chmodSync(join(folder, 'curl'), 0o755)
})

afterAll(async () => {
  await server.close()
  rmSync(folder, { recursive: true, force: true })
})

const blocksIn = (file: string) =>
  [...readFileSync(file, 'utf8').matchAll(/```sh\n(.*?)```/gs)].map(([, code]) => code!)

/** What a shell prints for these lines. */
async function pasted(script: string): Promise<string> {
  const PATH = `${process.env.PATH}${delimiter}${folder}`
  const { stdout } = await promisify(execFile)('bash', ['-eu', '-c', script], { cwd: folder, env: { PATH } })
  return stdout
}

test('the claim path in the README works when it is pasted into a shell', async () => {
  const script = blocksIn('README.md')
    .filter((code) => code.includes('curl') || code.includes('post '))
    .join('\n')
    .replaceAll('http://127.0.0.1:4400', server.url)
  const stdout = await pasted(script)
  const answers = stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  expect(answers.map(({ reason, code, state }) => reason ?? code ?? state)).toEqual([
    'GRANTED',
    'DENIED_ACTIVE_CLAIM',
    'RENEWED',
    'ACCEPTED',
    undefined,
    'queued',
    undefined,
  ])
  expect(answers[4].items.map(({ type }: { type: string }) => type)).toEqual([
    'task_created',
    'task_assigned',
    'claim_renewed',
    'task_completed',
  ])
  expect(answers[6].claims).toMatchObject([{ generation: 1, task: { title: 'Write the changelog' } }])
})

test('the plans of docs/plans.md are checked, imported and exported again by its commands', async () => {
  const plans = [...readFileSync('docs/plans.md', 'utf8').matchAll(/```yaml\n(.*?)```/gs)]
  for (const [i, name] of ['mission.yaml', 'plan.yaml'].entries())
    writeFileSync(join(folder, name), plans[i]![1]!)
  const script = blocksIn('docs/plans.md').join('\n').replaceAll('http://127.0.0.1:4400', server.url)
  const stdout = await pasted(script)
  expect(stdout).toContain('"valid":true,"kind":"mission","taskCount":3')
  expect(stdout).toContain('"unknownModels":[]')
  expect(stdout).toContain('"slug":"ecommerce-rebuild"')
  expect(stdout).toContain('"created":6')
  for (const key of ['A-002-di-container', 'B-002-entity-models::2', 'sequential: true'])
    expect(stdout.slice(stdout.indexOf('project:'))).toContain(key)
})

test('a mission is created, shown, approved and begun by the commands of docs/missions.md', async () => {
  const script = blocksIn('docs/missions.md').join('\n').replaceAll('http://127.0.0.1:4400', server.url)
  // The answers follow each other without a line end.
  const [graph, approved, shown] = (await pasted(script))
    .split(/(?<=\})(?=\{)/)
    .map((text) => JSON.parse(text))
  expect(graph.nodes.map(({ id, layer }: { id: string; layer: number }) => [id, layer])).toEqual([
    ['measure', 0],
    ['fix', 1],
  ])
  expect(approved).toMatchObject({ state: 'running', taskCount: 2 })
  expect(shown).toMatchObject({ id: approved.id, tasksByState: { queued: 1, pending: 1 } })
})

test('a hook is made, called, tried and looked at by the commands of docs/hooks.md', async () => {
  const script = blocksIn('docs/hooks.md').join('\n').replaceAll('http://127.0.0.1:4400', server.url)
  const [delivered, tried, log] = (await pasted(script))
    .split(/(?<=\})(?=\{)/)
    .map((text) => JSON.parse(text))
  expect(delivered).toMatchObject({ verdict: 'done', isRepeat: false })
  expect(tried).toMatchObject({ would: { make: 'task', title: 'Find out about ⟦full disk⟧' } })
  expect(log.items).toMatchObject([{ id: delivered.id, made: { kind: 'task' } }])
})

test('every npm command in the documents is a script of package.json', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  const pages = readdirSync('.').filter((name) => name.endsWith('.md'))
  const named = pages.flatMap((page) =>
    [...readFileSync(page, 'utf8').matchAll(/npm run ([a-z]+)/g)].map(([, name]) => name!),
  )
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter((name) => !(name in scripts))).toEqual([])
})

test('an agent is registered, assigned a task and done with it by the commands of docs/coordinator.md', async () => {
  // One of its own: work that waits elsewhere would be assigned to the agent as well.
  const own = await startServer()
  writeFileSync(join(folder, '.baton/owner-key'), `${own.ownerKey}\n`)
  const script = blocksIn('docs/coordinator.md').join('\n').replaceAll('http://127.0.0.1:4400', own.url)
  const answers = (await pasted(script))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const [agent, heartbeat, task, started, progress, done, health, logs, status] = answers
  expect([agent.state, heartbeat.agent, task.state]).toEqual(['idle', 'dev-1', 'queued'])
  expect([started.reason, progress.reason, done.reason]).toEqual(['STARTED', 'NOTED', 'ACCEPTED'])
  expect(health).toMatchObject({ agent: 'dev-1', status: 'healthy', memoryMb: 512, activeTasks: 0 })
  expect(logs.items.map(({ event }: { event: string }) => event)).toContain('task_completed')
  expect(status).toMatchObject({ active: true, stats: { healthyAgents: 1 } })
  await own.close()
})

test('a program becomes an agent, is assigned a task and is done with it by the commands of docs/runs.md', async () => {
  const own = await startServer()
  writeFileSync(join(folder, '.baton/owner-key'), `${own.ownerKey}\n`)
  const script = blocksIn('docs/runs.md').join('\n').replaceAll('http://127.0.0.1:4400', own.url)
  const answers = (await pasted(script))
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
  const [agent, probe, results, run, log, events, woken] = answers
  expect(agent).toMatchObject({ slug: 'counter', adapterType: 'process', state: 'idle' })
  expect(probe).toMatchObject({ agent: 'counter', ok: true })
  expect(results.items).toMatchObject([{ accepted: true, result: { words: 9 } }])
  expect(run).toMatchObject({
    agent: 'counter',
    status: 'succeeded',
    exitCode: 0,
    log: { store: 'local_file' },
  })
  expect(log).toMatchObject({ status: 'available', nextOffset: null })
  expect(log.content).toContain('There are 9 words.')
  expect(events.items.map(({ message }: { message: string }) => message)).toContain('spawned')
  expect(woken.wakeup).toMatchObject({ agent: 'counter', status: 'queued', reason: 'Let us see' })
  await own.close()
})

const MEANS = {
  infrastructure: 'is retried (`infrastructure`)',
  quality: 'is retried (`quality`)',
  budget: 'waits for a person (`budget`)',
  invalid: 'fails (`invalid`)',
  human: 'waits for a person (`human`)',
  rate_limited: 'waits until the rate limit ends (`rate_limited`)',
}

test('docs/runs.md lists every way in which a run can fail, and every variable of prompts', () => {
  const page = readFileSync('docs/runs.md', 'utf8')
  const rows = [...page.matchAll(/^\| `(\w+)` \| (.+?) \| (.+?) \|/gm)].filter(
    ([, code]) => code! in RUN_ERRORS,
  )
  const reported = Object.fromEntries(rows.map(([, code, ...cells]) => [code, cells]))
  const wanted = Object.entries(RUN_ERRORS).map(([code, { title, task }]) => {
    const isLeft = (code as RunErrorCode) === 'claim_lost'
    return [code, [title, task ? MEANS[task] : isLeft ? 'is left alone' : 'goes back to the queue']]
  })
  expect(reported).toEqual(Object.fromEntries(wanted))
  const stopping = [...page.matchAll(/^\| `(\w+)` \|.*\| stops \|$/gm)].map(([, code]) => code)
  expect(stopping).toEqual(
    Object.keys(RUN_ERRORS).filter((code) => RUN_ERRORS[code as RunErrorCode].stopsAgent),
  )
  const named = (path: string) => page.includes(`\`${path}\``) || path.startsWith('company.')
  expect(PROMPT_VARIABLES.filter(({ path }) => !named(path))).toEqual([])
})
