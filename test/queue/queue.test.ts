import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { MemoryStore } from '../../src/memory/store.ts'
import { createQueue, type Queue, type QueueOptions, Refused, Unretryable } from '../../src/queue/queue.ts'
import { until } from '../support/nodes.ts'
import { queuePlaces } from '../support/queue-urls.ts'

const refusalOf = async (act: Promise<unknown>) => {
  const error = await act.then(
    () => null,
    (thrown) => thrown,
  )
  expect(error).toBeInstanceOf(Refused)
  return error as Refused
}

/** Resolves when `open` is called. */
function gate() {
  let open: () => void = () => undefined
  const passed = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), passed }
}

describe.each(Object.keys(queuePlaces))('a queue on %s', (kind) => {
  let place: Awaited<ReturnType<(typeof queuePlaces)[string]>>
  let opened: Queue[] = []
  let workspaces = 0
  const open = async (options: QueueOptions = {}) => {
    const limits = {
      minLeaseSeconds: 1,
      maxLeaseSeconds: 3_600,
      maxConcurrentClaims: 1_000,
      ...options.limits,
    }
    const queue = await createQueue(place.url, { workspace: `w${workspaces}`, ...options, limits })
    opened.push(queue)
    return queue
  }
  beforeAll(async () => {
    place = await queuePlaces[kind]!()
  })
  afterEach(async () => {
    await Promise.all(opened.map((queue) => queue.close()))
    opened = []
    workspaces += 1
  })
  afterAll(() => place.drop())

  test('assigns a task once, and accepts the result of its holder only', async () => {
    const queue = await open()
    const { id } = await queue.enqueue({ title: 'once' })
    const claim = (await queue.next('w-1'))!
    expect(claim).toMatchObject({ taskId: id, generation: 1, session: 'w-1' })
    expect(await queue.next('w-2')).toBeNull()
    const zombie = { ...claim, session: 'w-2' }
    expect((await refusalOf(queue.submit(zombie, {}))).code).toBe('SESSION_MISMATCH')
    expect(await queue.submit(claim, { done: true })).toMatchObject({ reason: 'ACCEPTED' })
    expect(await queue.status(id)).toBe('completed')
  })

  test('refuses a superseded holder, and stores its work', async () => {
    const queue = await open()
    const { id } = await queue.enqueue({ title: 'passed on' })
    const first = (await queue.next('w-1'))!
    await queue.release(first)
    const second = (await queue.next('w-2'))!
    expect(second.generation).toBe(2)
    expect((await refusalOf(queue.submit(first, { mine: 1 }))).code).toBe('STALE_GENERATION')
    await queue.submit(second, { mine: 2 })
    expect((await queue.results(id)).map(({ accepted, result }) => ({ accepted, result }))).toEqual([
      { accepted: false, result: { mine: 1 } },
      { accepted: true, result: { mine: 2 } },
    ])
  })

  test.skipIf(kind === 'memory')('is one queue for all processes that open it', async () => {
    const [one, other] = [await open(), await open()]
    const waiting = other.next('w-1', { waitMs: 30_000 })
    const { id } = await one.enqueue({ title: 'from afar' })
    expect((await waiting)?.taskId).toBe(id)
  })

  test('keeps workspaces apart', async () => {
    const [shop, bank] = [
      await open({ workspace: `shop${workspaces}` }),
      await open({ workspace: `bank${workspaces}` }),
    ]
    const { id } = await shop.enqueue({ title: 'mine', userId: 'alice' })
    expect(await bank.next('w-1')).toBeNull()
    expect(await bank.listByUser('alice')).toEqual([])
    expect((await refusalOf(bank.status(id))).code).toBe('NOT_FOUND')
  })

  test('waits for work, and stops waiting on abort', async () => {
    const queue = await open()
    const gone = new AbortController()
    const waiting = queue.next('w-1', { waitMs: 30_000, signal: gone.signal })
    gone.abort()
    expect(await waiting).toBeNull()
    const { id } = await queue.enqueue({ title: 'still there' })
    expect((await queue.next('w-1'))?.taskId).toBe(id)
  })

  test('gives a worker no more than its capacity, and nothing when it drains', async () => {
    const queue = await open()
    await queue.registerWorker('w-1', { capacity: 2 })
    await queue.enqueueMany(Array.from({ length: 5 }, (_, n) => ({ title: `n${n}` })))
    expect(await queue.nextMany('w-1', 5)).toHaveLength(2)
    expect((await refusalOf(queue.next('w-1'))).code).toBe('NO_CAPACITY')
    await queue.drainWorker('w-1')
    expect((await refusalOf(queue.next('w-1'))).code).toBe('WORKER_DRAINING')
    await queue.unregisterWorker('w-1')
    expect(await queue.nextMany('w-2', 5)).toHaveLength(5)
  })

  test('revokes what a silent worker holds and retries it', async () => {
    const queue = await open()
    await queue.registerWorker('w-1', { capacity: 1, heartbeatSeconds: 1 })
    const { id } = await queue.enqueue({ title: 'left behind' })
    await queue.next('w-1')
    await until(async () => (await queue.status(id)) === 'awaiting_retry')
    const types = (await queue.events(0, 100)).map(({ type }) => type)
    expect(types).toEqual(expect.arrayContaining(['worker_lost', 'task_worker_lost']))
    expect((await refusalOf(queue.heartbeat('w-1'))).code).toBe('WORKER_GONE')
  })

  test('works off what arrives, records why tasks failed, and finishes before it closes', async () => {
    const queue = await open()
    const [good, bad, hopeless] = await queue.enqueueMany([
      { title: 'good', input: { n: 7 } },
      { title: 'bad' },
      { title: 'hopeless' },
    ])
    const slow = gate()
    await queue.work(
      'w-1',
      async ({ task }) => {
        if (task.title === 'bad') throw new Error('not today')
        if (task.title === 'hopeless') throw new Unretryable('never')
        if (task.title === 'slow') await slow.passed
        return { twice: (task.input as { n: number } | null)?.n ?? 0 }
      },
      { capacity: 3 },
    )
    await until(async () => (await queue.status(hopeless!.id)) === 'failed')
    await until(async () => (await queue.status(bad!.id)) === 'awaiting_retry')
    await until(async () => (await queue.status(good!.id)) === 'completed')
    expect(await queue.get(bad!.id)).toMatchObject({ error: 'not today', failureClass: 'infrastructure' })
    expect((await queue.results(good!.id))[0]).toMatchObject({ accepted: true, result: { twice: 7 } })

    const last = await queue.enqueue({ title: 'slow' })
    await until(async () => (await queue.get(last.id)).holder !== null)
    const watcher = kind === 'memory' ? null : await open()
    const closing = queue.close()
    slow.open()
    await closing
    if (watcher) expect(await watcher.status(last.id)).toBe('completed')
    opened = opened.filter((one) => one !== queue)
  })

  test('fails a task whose result cannot be stored, instead of holding it for ever', async () => {
    const queue = await open({ limits: { maxResultBytes: 2_000 } })
    const [large, odd, good] = await queue.enqueueMany(['large', 'odd', 'good'].map((title) => ({ title })))
    const results: Record<string, unknown> = { large: 'x'.repeat(3_000), odd: 1n, good: 1 }
    await queue.work('w-1', ({ task }) => results[task.title])
    await until(async () => (await queue.status(good!.id)) === 'completed')
    expect(await queue.get(large!.id)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('3002 bytes'),
    })
    expect(await queue.get(odd!.id)).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('BigInt'),
    })
  })

  test('accepts or refuses each of many results, and answers in their order', async () => {
    const queue = await open({ limits: { maxResultBytes: 1_024 } })
    await queue.enqueueMany([1, 2, 3, 4].map((n) => ({ title: `task ${n}`, input: n })))
    const claims = await queue.nextMany('w-1', 4)
    const zombie = { ...claims[1]!, session: 'w-2' }
    const answers = await queue.submitMany([
      { claim: claims[0]!, result: { n: 1 }, summary: 'the first' },
      { claim: zombie, result: { n: 2 } },
      { claim: claims[2]!, result: 'x'.repeat(2_000) },
      { claim: claims[3]!, result: { n: 4 } },
    ])
    expect(answers.map(({ taskId, reason }) => [taskId, reason])).toEqual([
      [claims[0]!.taskId, 'ACCEPTED'],
      [claims[1]!.taskId, 'SESSION_MISMATCH'],
      [claims[2]!.taskId, 'RESULT_TOO_LARGE'],
      [claims[3]!.taskId, 'ACCEPTED'],
    ])
    const states = await Promise.all(claims.map(({ taskId }) => queue.status(taskId)))
    expect(states).toEqual(['completed', 'assigned', 'assigned', 'completed'])
    expect(await queue.results(claims[0]!.taskId)).toMatchObject([{ result: { n: 1 }, summary: 'the first' }])
  })

  test('takes no results, and refuses more than ten thousand at once', async () => {
    const queue = await open()
    await queue.enqueue({ title: 'one' })
    const claim = (await queue.next('w-1'))!
    expect(await queue.submitMany([])).toEqual([])
    const tooMany = queue.submitMany(Array.from({ length: 10_001 }, () => ({ claim, result: 1 })))
    expect((await refusalOf(tooMany)).code).toBe('VALIDATION_FAILED')
    expect(await queue.status(claim.taskId)).toBe('assigned')
  })

  test('takes the next task with a result, and none with a result that is refused', async () => {
    const queue = await open()
    const [first, second, third] = await queue.enqueueMany(['1', '2', '3'].map((title) => ({ title })))
    await queue.registerWorker('w-1', { capacity: 1, agent: 'an-agent' })
    const claim = (await queue.next('w-1'))!
    const { submitted, next } = await queue.submitAndNext(
      claim,
      { done: 1 },
      { summary: 'one', leaseSeconds: 9 },
    )
    expect(submitted).toMatchObject({ reason: 'ACCEPTED', task: { id: first!.id, state: 'completed' } })
    expect(next).toMatchObject({ taskId: second!.id, session: 'w-1', agent: 'an-agent', generation: 1 })
    expect(next!.task).toMatchObject({ title: '2', state: 'assigned' })
    expect(next!.ttlMs).toBeLessThanOrEqual(9_000)
    const zombie = { ...next!, session: 'w-2' }
    expect((await refusalOf(queue.submitAndNext(zombie, {}))).code).toBe('SESSION_MISMATCH')
    expect(await queue.status(third!.id)).toBe('queued')
    expect(await queue.results(first!.id)).toMatchObject([{ summary: 'one', result: { done: 1 } }])
  })

  test('keeps a result whose request for the next task cannot be met', async () => {
    const queue = await open()
    const [first, second] = await queue.enqueueMany(['1', '2'].map((title) => ({ title })))
    const claim = (await queue.next('w-1'))!
    // Longer than the workspace allows.
    const { submitted, next } = await queue.submitAndNext(claim, {}, { leaseSeconds: 86_400 })
    expect([submitted.reason, next]).toEqual(['ACCEPTED', null])
    expect(await queue.status(first!.id)).toBe('completed')
    expect(await queue.status(second!.id)).toBe('queued')
  })

  test('releases the next task when the caller has left meanwhile', async () => {
    const queue = await open()
    const [, second] = await queue.enqueueMany(['1', '2'].map((title) => ({ title })))
    const claim = (await queue.next('w-1'))!
    const { next } = await queue.submitAndNext(claim, {}, { signal: AbortSignal.abort() })
    expect(next).toBeNull()
    expect(await queue.get(second!.id)).toMatchObject({ state: 'queued', generation: 1, holder: null })
  })

  test('takes only tasks of the requested project with a result', async () => {
    const queue = await open()
    await queue.enqueueMany([{ title: 'any' }, { title: 'other' }])
    const { id } = await queue.enqueue({ title: 'shop', project: 'shop', priority: 1 })
    const { next } = await queue.submitAndNext((await queue.next('w-1'))!, {}, { project: 'shop' })
    expect(next?.taskId).toBe(id)
  })

  test('works off a chain of tasks and finishes the one it has when it stops', async () => {
    const queue = await open()
    const tasks = await queue.enqueueMany(Array.from({ length: 30 }, (_, n) => ({ title: `n${n}` })))
    const begun = gate()
    const slow = gate()
    const done: string[] = []
    const loop = await queue.work('w-1', async ({ task }) => {
      if (task.title === 'n20') {
        begun.open()
        await slow.passed
      }
      done.push(task.title)
    })
    await begun.passed
    const stopping = loop.stop()
    slow.open()
    await stopping
    expect(done).toEqual(Array.from({ length: 21 }, (_, n) => `n${n}`))
    expect(await queue.status(tasks[20]!.id)).toBe('completed')
    expect(await queue.get(tasks[21]!.id)).toMatchObject({ state: 'queued', holder: null })
  })

  test('notifies a handler when its claim is lost', async () => {
    const queue = await open()
    const begun = gate()
    const lost = gate()
    const { id } = await queue.enqueue({ title: 'to be cancelled' })
    await queue.work(
      'w-1',
      async (_claim, { signal }) => {
        signal.addEventListener('abort', lost.open)
        begun.open()
        await lost.passed
      },
      { leaseSeconds: 1 },
    )
    await begun.passed
    await queue.cancel(id)
    await lost.passed
    expect(await queue.status(id)).toBe('cancelled')
  })

  test('requeues stalled work on demand', async () => {
    const queue = await open()
    const { id } = await queue.enqueue({ title: 'forgotten' })
    await queue.next('w-1')
    expect(await queue.requeueStalled(60_000)).toBe(0)
    expect(await queue.requeueStalled(0)).toBe(1)
    expect(await queue.status(id)).toBe('awaiting_retry')
  })

  test('creates a task once under a key, and refuses the key for another', async () => {
    const queue = await open()
    const first = await queue.enqueue({ title: 'order', idempotencyKey: 'k' })
    expect((await queue.enqueue({ title: 'order', idempotencyKey: 'k' })).id).toBe(first.id)
    const other = queue.enqueueMany([{ title: 'fine' }, { title: 'other', idempotencyKey: 'k' }])
    expect((await refusalOf(other)).code).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(await queue.nextMany('w-1', 10)).toHaveLength(1)
  })

  test('names every field that is wrong, and writes nothing', async () => {
    const queue = await open()
    const wrong = [{ title: 'fine' }, { title: '', priority: 11 }] as never
    const { code, refusal } = await refusalOf(queue.enqueueMany(wrong))
    expect(code).toBe('VALIDATION_FAILED')
    const fields = new Set((refusal.errors as { field: string }[]).map(({ field }) => field))
    expect([...fields]).toEqual(['tasks.1.title', 'tasks.1.priority'])
    expect(await queue.next('w-1')).toBeNull()
  })

  test('refuses what it would not keep: budgets, and verdicts by anybody but people', async () => {
    const queue = await open()
    const fieldsOf = async (task: object) =>
      (await refusalOf(queue.enqueueMany([{ title: 'fine' }, { title: 'a', ...task }]))).refusal.errors
    const message = 'is kept by servers of Baton only'
    expect(await fieldsOf({ budget: { maxTokens: 1 } })).toEqual([{ field: 'tasks[1].budget', message }])
    for (const kind of ['agent', 'auto'])
      expect(await fieldsOf({ verification: { kind } })).toEqual([
        { field: 'tasks[1].verification', message },
      ])
    expect(await queue.next('w-1')).toBeNull()
    await queue.enqueue({ title: 'b', verification: { kind: 'human' } })
  })
})

describe('a queue that cannot be opened', () => {
  test('is refused in one sentence that does not repeat the URL', async () => {
    await expect(createQueue('ftp://user:secret@example.org')).rejects.toThrow(
      /^The URL of a queue must begin with/,
    )
    await expect(createQueue('nonsense')).rejects.not.toThrow(/nonsense/)
  })

  test.each(['postgres', 'redis', 'mysql'])(
    'on %s reports that no server answers, without the password',
    async (scheme) => {
      const error = await createQueue(`${scheme}://user:secret@127.0.0.1:9/x`).catch((thrown) => thrown)
      expect(error).toBeInstanceOf(Error)
      expect(String(error.message)).not.toContain('secret')
    },
  )
})

test('a queue works on a store of the caller’s, and closes it', async () => {
  const store = new MemoryStore()
  let closed = 0
  const close = store.close.bind(store)
  store.close = async () => {
    closed += 1
    await close()
  }
  const queue = await createQueue(store)
  const { id } = await queue.enqueue({ title: 'Anything' })
  expect(await queue.status(id)).toBe('queued')
  await queue.close()
  expect(closed).toBe(1)
})
