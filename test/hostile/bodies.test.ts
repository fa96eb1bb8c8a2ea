import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectRefusal, fence, type Json, openWorkspace, type Workspace } from '../support/http-workspace.ts'
import { samples } from '../support/rounds.ts'
import { startWatchedServer, type WatchedServer } from '../support/watched-server.ts'

/** Bodies that are made to use up the memory or the time of the server. It has as much memory as `npm start` gives it. */

const LONGEST_HOLD_MS = 200

let server: WatchedServer
let w: Workspace
beforeAll(async () => {
  server = await startWatchedServer()
  w = await openWorkspace(server, { maxResultBytes: 100 * 1024 * 1024 })
  // Validators and statements are made when they are first needed.
  await submitted({ warm: 'up' })
  await w.post('/tasks/batch', { tasks: [{ title: 'warm up' }] })
  await w.call('POST', '/plans/check', 'x'.repeat(20_000), YAML)
}, 120_000)
afterAll(() => server?.close())

const MB = 1_000_000
const YAML = { 'content-type': 'application/yaml' }
const filled = (piece: string, bytes: number) => piece.repeat(Math.floor(bytes / piece.length))
const listOf = (piece: string, bytes: number) => `[${filled(`${piece},`, bytes)}${piece}]`

/** Names that no two objects share, in no order that was seen before: what the engine parses slowest. */
function unlikeObjects(bytes: number): string {
  const objects: string[] = []
  for (let length = 0, i = 0; length < bytes; i++) {
    const names = Array.from({ length: 20 }, (_, j) => `"k${(i * 20 + j) % 9_973}":1`)
    objects.push(`{${names.join(',')}}`)
    length += objects.at(-1)!.length
  }
  return `[${objects.join(',')}]`
}

async function submitted(result: unknown, asText?: string) {
  const task = await w.held()
  const body =
    asText === undefined
      ? { ...fence('s-alpha', 1), result }
      : `{"session":"s-alpha","generation":1,"result":${asText}}`
  for (;;) {
    // As every client does: on a busy machine, eight of these take longer than one may wait, or than a connection is kept open.
    const answer = await w.call('POST', `/tasks/${task.id}/submit`, body).catch(() => null)
    expect(server.isRunning(), server.stderr()).toBe(true)
    if (answer === null) continue
    if (answer.status !== 503) return { task, answer }
    expect(answer.body.code).toBe('TOO_BUSY')
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
  }
}

describe('a body that is refused holds the event loop for less than 200 ms of CPU', () => {
  const bodies: [what: string, body: () => string, status: number, code: string][] = [
    ['25 MB of {}', () => `{"tasks":${listOf('{}', 25 * MB)}}`, 413, 'BODY_TOO_LARGE'],
    ['25 MB of []', () => listOf('[]', 25 * MB), 413, 'BODY_TOO_LARGE'],
    ['25 MB of numbers', () => listOf('1', 25 * MB), 413, 'BODY_TOO_LARGE'],
    ['25 MB of open brackets', () => '['.repeat(25 * MB), 400, 'VALIDATION_FAILED'],
    ['25 MB of open objects', () => filled('{"a":', 25 * MB), 400, 'VALIDATION_FAILED'],
    ['25 MB of commas', () => ','.repeat(25 * MB), 413, 'BODY_TOO_LARGE'],
    ['25 MB of blanks', () => ' '.repeat(25 * MB), 400, 'MALFORMED_JSON'],
    ['25 MB of quotes', () => '"'.repeat(25 * MB), 400, 'MALFORMED_JSON'],
    ['25 MB of backslashes', () => `{"a":"${'\\'.repeat(25 * MB)}`, 400, 'MALFORMED_JSON'],
    ['a name of 25 MB', () => `{"${'a'.repeat(25 * MB)}":1}`, 400, 'VALIDATION_FAILED'],
    ['25 MB of digits', () => `{"tasks":[${'1'.repeat(25 * MB)}]}`, 400, 'VALIDATION_FAILED'],
    [
      '25 MB of digits that are nearly too large',
      () => `{"tasks":["${filled(`${'1'.repeat(308)} `, 25 * MB)}"]}`,
      400,
      'VALIDATION_FAILED',
    ],
    [
      '6 MB of objects of which no two are alike',
      () => `{"tasks":${unlikeObjects(6 * MB)}}`,
      400,
      'VALIDATION_FAILED',
    ],
    [
      'half a million names, the last one given twice',
      () => `{${Array.from({ length: 500_000 }, (_, i) => `"k${i}":1`).join(',')},"k499999":1}`,
      400,
      'VALIDATION_FAILED',
    ],
    [
      'a million texts, the last one with a NUL',
      () => `{"tasks":[${filled('"a",', 4 * MB)}"\\u0000"]}`,
      400,
      'VALIDATION_FAILED',
    ],
    [
      'a million values that are halves of pairs',
      () => `{"tasks":[${filled('"\\ud83d\\ude00",', 14 * MB)}"\\ud83d"]}`,
      400,
      'VALIDATION_FAILED',
    ],
    [
      'a __proto__ at the end of 20 MB',
      () => `{"tasks":[${filled('"a b c d e f g",', 20 * MB)}{"__proto__":1}]}`,
      400,
      'VALIDATION_FAILED',
    ],
    [
      'ten thousand tasks, the last one without a title',
      () => JSON.stringify({ tasks: [...fullTasks(9_999), {}] }),
      400,
      'VALIDATION_FAILED',
    ],
  ]
  test.each(samples(6, bodies))('%s', async (_, body, status, code) => {
    const text = body()
    let answer: Awaited<ReturnType<Workspace['post']>>
    const heldMs = await server.heldBy(async () => {
      answer = await w.call('POST', '/tasks/batch', text)
    })
    expectRefusal(answer!, status, code)
    expect(answer!.body.detail.length).toBeLessThan(400)
    expect(heldMs).toBeLessThan(LONGEST_HOLD_MS)
  })
})

function fullTasks(count: number): Json[] {
  return Array.from({ length: count }, (_, i) => ({
    title: `Task ${i}`,
    taskType: 'code',
    priority: 3,
    description: 'What is to be done, in a sentence or two, with a reason.',
    input: {
      file: 'src/app.ts',
      lines: [1, 20],
      options: { strict: true, mode: 'fast' },
      notes: ['one', 'two', 'three'],
    },
    tags: ['backend', 'api', 'login'],
    metadata: { ticket: `T-${i}`, component: 'auth', reviewers: ['ann', 'bob'] },
    project: 'shop',
    userId: 'user-1',
    merge: 'object',
    idempotencyKey: `import-${i}`,
    dependsOn: [],
    triggerRule: 'all_success',
    requiredCapabilities: ['typescript', 'postgres'],
    agent: 'builder',
    maxRetries: 2,
    maxContinuations: 5,
    runAt: '2030-01-01T00:00:00Z',
    expiresAt: '2031-01-01T00:00:00Z',
    verification: { kind: 'agent', agent: 'builder', threshold: 0.8 },
    timeouts: { attemptSeconds: 600, deadlineSeconds: 6_000, hangGraceSeconds: 60 },
    estimatedDurationMinutes: 30,
    optional: false,
    model: 'a-model',
    complexity: 5,
    estimatedTokens: 20_000,
    successCriteria: 'The tests pass.',
    outputSchema: {
      type: 'object',
      properties: { summary: { type: 'string' }, files: { type: 'array', items: { type: 'string' } } },
      required: ['summary'],
    },
    systemPrompt: 'You are careful.',
    toolsRequested: ['git', 'npm'],
    budget: { maxTokens: 100_000, maxUsd: '2.50' },
  }))
}

test('ten thousand tasks with all their fields are created with one request', async () => {
  await w.post('/projects', { slug: 'shop' })
  await w.call('PUT', '/agents/builder', {})
  const answer = await w.post('/tasks/batch', { tasks: fullTasks(10_000) })
  expect(answer.body).toMatchObject({ items: expect.anything() })
  expect(answer.status).toBe(201)
  expect(answer.body.items).toHaveLength(10_000)
  expect(answer.body.items[9_999]).toMatchObject({ title: 'Task 9999', tags: ['backend', 'api', 'login'] })
}, 120_000)

describe('results', () => {
  const tenMegabytes: [string, () => string][] = [
    ['with as many values as are allowed', () => `[${'"12345",'.repeat(1_250_000)}1]`],
    ['of text', () => JSON.stringify({ text: 'x'.repeat(10 * MB) })],
    ['of characters of three bytes', () => JSON.stringify({ text: '日本'.repeat((10 * MB) / 6) })],
  ]
  test.each(samples(1, tenMegabytes))(
    'eight of ten megabytes at once are all accepted: %s',
    async (_, made) => {
      const text = made()
      const answers = await Promise.all(Array.from({ length: 8 }, () => submitted(null, text)))
      expect(answers.map(({ answer }) => answer.status)).toEqual(Array(8).fill(200))
      expect((await w.read(answers[7]!.task)).state).toBe('completed')
      expect(server.isRunning()).toBe(true)
    },
    600_000,
  )

  test('eight of ten megabytes of {} at once are all refused', async () => {
    const text = listOf('{}', 10 * MB)
    const heldMs = await server.heldBy(async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => submitted(null, text)))
      for (const { answer } of answers) expectRefusal(answer, 413, 'BODY_TOO_LARGE')
    })
    expect(heldMs).toBeLessThan(LONGEST_HOLD_MS)
  })
})

describe('a plan that is refused holds the event loop for less than 200 ms of CPU', () => {
  const plans: [what: string, plan: () => string][] = [
    ['2 MB of a list', () => filled('- a\n', 2 * MB)],
    ['a list in brackets', () => `[${filled('a,', MB / 3)}a]`],
    ['a list of {}', () => listOf('{}', 1.4 * MB)],
    ['fields', () => filled('a: 1\n', MB / 3)],
    ['comments', () => filled('#\n', MB / 3)],
    ['aliases', () => `[${filled('*a,', MB / 3)}a]`],
    ['very many mistakes', () => `[${','.repeat(300_000)}]`],
    ['4 MB of brackets', () => '['.repeat(4 * MB)],
    ['4 MB of more than any plan needs', () => filled('a,', 4 * MB)],
    [
      'JSON of twenty thousand tasks without anything',
      () => JSON.stringify({ tasks: Array(20_000).fill({}) }),
    ],
  ]
  test.each(samples(4, plans))(
    '%s',
    async (_, made) => {
      const text = made()
      const viewer = (await w.post('/keys', { name: 'viewer', role: 'viewer' })).body.key
      let answer: Awaited<ReturnType<Workspace['post']>>
      const heldMs = await server.heldBy(async () => {
        answer = await server.call('POST', '/plans/check', text, { key: viewer, headers: YAML })
      })
      expectRefusal(answer!, 422, 'PLAN_INVALID')
      expect(heldMs).toBeLessThan(LONGEST_HOLD_MS)
    },
    300_000,
  )

  test('also as a part of a request', async () => {
    const plan = { tasks: Array.from({ length: 20_000 }, (_, i) => ({ tempId: `t${i}`, tasks: [{}] })) }
    const text = JSON.stringify({ goal: 'Make it work', plan })
    const heldMs = await server.heldBy(async () => {
      expectRefusal(await w.call('POST', '/missions', text), 422, 'PLAN_INVALID')
    })
    expect(heldMs).toBeLessThan(LONGEST_HOLD_MS)
  }, 120_000)
})

test('whoever sends a large body slowly does not keep others from sending theirs', async () => {
  const { hostname, port } = new URL(server.api)
  const slow = Array.from({ length: 12 }, () => {
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    socket.write(
      `POST /api/v1/tasks/${crypto.randomUUID()}/submit HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${w.ownerKey}\r\ncontent-type: application/json\r\ncontent-length: ${100 * MB}\r\n\r\n`,
    )
    socket.write(' '.repeat(10 * MB))
    return socket
  })
  await Promise.all(slow.map((socket) => socket.writableNeedDrain && once(socket, 'drain')))
  const { answer } = await submitted({ text: 'x'.repeat(10 * MB) })
  expect(answer.status).toBe(200)
  for (const socket of slow) socket.destroy()
})
