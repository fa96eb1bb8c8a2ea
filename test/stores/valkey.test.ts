import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { decideAll } from '../../src/kernel/batch/decide-all.ts'
import { ONLY_WORK } from '../../src/kernel/batch/queue-filter.ts'
import { type Request, readSetOf } from '../../src/kernel/batch/requests.ts'
import { Combiner } from '../../src/kernel/combiner.ts'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { whatIsWrong } from '../../stores/valkey/ready.ts'
import { ValkeyStore } from '../../stores/valkey/store.ts'
import { batchStep, NO_COMPANY, until } from '../support/nodes.ts'
import { cuttableConnectionTo } from '../support/proxy.ts'
import { replay } from '../support/replay.ts'
import type { Reply } from '../support/replies.ts'
import { rounds } from '../support/rounds.ts'
import { faultyConnectionTo } from '../support/servers/faulty-connection.ts'
import type { PrivateServer } from '../support/servers/private-server.ts'
import {
  canStartPrivateValkey,
  freshValkeyPrefix,
  startPrivateValkey,
  type ValkeySettings,
} from '../support/servers/valkey.ts'
import { openStore, type StoreUnderTest } from '../support/stores.ts'
import {
  atGeneration,
  granted,
  grantedTasks,
  holder,
  newTask,
  outcome,
  type Task,
  tally,
  Work,
} from '../support/tasks.ts'

const alpha = holder('alpha')
const beta = holder('beta')
const roomy = { maxConcurrentClaims: 1_000_000 }
const many = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i))

/** The log has no gaps and replays to the state of every task; generations are exactly the claims. */
async function isConsistent(work: Work): Promise<void> {
  const events = await work.events()
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  const ids = [...new Set(events.flatMap(({ taskId }) => taskId ?? []))]
  for (const id of ids) {
    const { state, generation } = await work.record({ id })
    expect(replay(events.filter(({ taskId }) => taskId === id))).toEqual({ state, generation })
    const claims = await work.store.claims(work.workspace, id)
    expect(claims.map((claim) => claim.generation)).toEqual(many(generation, (i) => i + 1))
  }
}

describe('a server that cannot guarantee durability is refused', () => {
  const said = (info: Record<string, string>) => whatIsWrong((name) => info[name])

  test.each([
    ['an old Redis', { redis_version: '6.2.14', redis_mode: 'standalone', role: 'master' }, '6.2.14'],
    ['a Sentinel', { redis_version: '7.2.5', redis_mode: 'sentinel' }, 'Sentinel'],
    ['a cluster', { redis_version: '7.2.5', redis_mode: 'cluster', role: 'master' }, 'cluster'],
    ['a replica', { redis_version: '7.2.5', redis_mode: 'standalone', role: 'slave' }, 'replica'],
    ['no answer', {}, 'unknown version'],
  ])('%s', (_what, info, why) => expect(said(info)).toContain(why))

  test.each([
    ['Redis 7', { redis_version: '7.0.15', redis_mode: 'standalone', role: 'master' }],
    ['Redis 10', { redis_version: '10.0.0', redis_mode: 'standalone', role: 'master' }],
    [
      'Valkey 8',
      { redis_version: '7.2.4', valkey_version: '8.1.1', server_mode: 'standalone', role: 'master' },
    ],
  ])('but not %s', (_what, info) => expect(said(info)).toBeNull())

  test.each([
    ['no address', 'postgres://localhost/baton'],
    ['no server', 'valkey://127.0.0.1:1'],
  ])('%s', (_what, url) => expect(ValkeyStore.open(url)).rejects.toThrow(StartRefused))
})

describe.skipIf(!(await canStartPrivateValkey()))('with a private server', () => {
  const servers: PrivateServer[] = []
  const stores: ValkeyStore[] = []
  async function start(settings: ValkeySettings = {}): Promise<PrivateServer> {
    const server = await startPrivateValkey(settings)
    servers.push(server)
    return server
  }
  async function open(url: string): Promise<ValkeyStore> {
    const store = await ValkeyStore.open(url)
    stores.push(store)
    return store
  }
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
    await Promise.all(servers.splice(0).map((server) => server.stop()))
  })

  test.each<[string, ValkeySettings, string]>([
    ['without a log', { appendonly: 'no' }, 'appendonly yes'],
    ['that evicts what is old', { 'maxmemory-policy': 'allkeys-lru' }, 'maxmemory-policy noeviction'],
    ['that evicts what expires', { 'maxmemory-policy': 'volatile-ttl' }, 'maxmemory-policy noeviction'],
  ])('one %s is refused', async (_what, settings, advice) => {
    const { url } = await start(settings)
    const refusal = await open(url).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StartRefused)
    expect((refusal as Error).message).toContain(advice)
  })

  test('one that forbids reading its settings is judged by what it reports', async () => {
    const { url } = await start()
    const admin = new Redis(url)
    await admin.call('ACL', 'SETUSER', 'baton', 'on', '>secret', '~*', '&*', '+@all', '-config')
    admin.disconnect()
    const store = await open(url.replace('redis://', 'valkey://baton:secret@'))
    expect(await store.workspace('w')).toBe(1)
    await expect(open(url.replace('redis://', 'redis://baton:wrong@'))).rejects.toThrow(/WRONGPASS/)
  })

  test('kill -9 loses no acknowledged write, and no generation', async () => {
    const server = await start()
    const store = await open(server.url)
    const work = new Work(store, await store.workspace('w', roomy))
    const acknowledged = new Map<number, number>()
    const TASKS = rounds(800, 2_000)
    for (let life = 1; life <= 3; life++) {
      const tasks = await work.createAll(many(TASKS, () => newTask()))
      let isDown = false
      const claiming = tasks.map(async (task, i) => {
        // Some are sent while it is being killed.
        await sleep((i * 100) / TASKS)
        if (isDown) return
        const reply = await work.claim(task, alpha)
        acknowledged.set(task.id, granted(reply).generation)
      })
      const settled = Promise.allSettled(claiming)
      await until(async () => acknowledged.size > (life * TASKS) / 5)
      isDown = true
      await server.kill9()
      await server.restart()
      for (const one of await settled)
        if (one.status === 'rejected') expect(one.reason).toBeInstanceOf(StoreUnavailable)
      await until(() => work.claims(tasks[0]!).catch(() => null))
      const ids = [...acknowledged.keys()]
      const records = await Promise.all(ids.map((id) => work.record({ id })))
      expect(new Map(records.map(({ id, generation }) => [id, generation]))).toEqual(acknowledged)
    }
    const [task] = await work.createAll([newTask()])
    expect(outcome(await work.claim(task!, beta)), 'and it continues').toBe('GRANTED')
    await isConsistent(work)
  })

  test('full memory refuses the whole transaction, until there is room', async () => {
    const { url } = await start({ maxmemory: '8mb' })
    const store = await open(url)
    const work = new Work(store, await store.workspace('w', roomy))
    const large = { input: 'x'.repeat(20_000) }
    const failure = await (async () => {
      for (;;) await work.createAll(many(10, () => newTask(large)))
    })().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnavailable)
    expect((failure as Error).message).toContain('OOM')
    await isConsistent(work)
    const admin = new Redis(url)
    await admin.config('SET', 'maxmemory', '0')
    admin.disconnect()
    expect((await work.create(large)).state).toBe('queued')
    await isConsistent(work)
  })

  test('a server that became a replica accepts nothing', async () => {
    const { url } = await start()
    const store = await open(url)
    const work = new Work(store, await store.workspace('w'))
    const admin = new Redis(url)
    await admin.replicaof('127.0.0.1', 1)
    const failure = await work.create().catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnavailable)
    expect((failure as Error).message).toContain('READONLY')
    await expect(store.ready()).rejects.toThrow(StartRefused)
    await admin.replicaof('NO', 'ONE')
    admin.disconnect()
    expect((await work.create()).state).toBe('queued')
  })
})

describe.skipIf(inject('valkeyUrl') === null)('valkey', () => {
  const url = inject('valkeyUrl')!
  const prefix = freshValkeyPrefix()
  const options = { prefix }
  /** For connections that lose answers on purpose: how long a lost one is waited for. */
  const impatient = { prefix, answerWithinMs: 500 }
  let store: ValkeyStore
  let other: ValkeyStore
  let raw: Redis
  let workspaces = 0
  beforeAll(async () => {
    store = await ValkeyStore.open(url, options)
    other = await ValkeyStore.open(url, options)
    raw = new Redis(url)
  })
  afterAll(async () => {
    await Promise.all([store.close(), other.close()])
    const names = await namesOf(`{${prefix}`)
    for (let i = 0; i < names.length; i += 1_000) await raw.unlink(names.slice(i, i + 1_000))
    raw.disconnect()
  })

  const newWorkspace = (limits = {}) => store.workspace(`w-${++workspaces}`, { ...roomy, ...limits })
  const namesOf = async (start: string) => {
    const found = new Set<string>()
    for await (const names of raw.scanStream({ match: `${start}*`, count: 10_000 }))
      for (const name of names) found.add(name)
    return [...found]
  }
  const metaOf = (workspace: number) => `{${prefix}:${workspace}}:meta`

  test('thousands of races between two processes have one winner each', async () => {
    const workspace = await newWorkspace()
    const [here, there] = [new Work(store, workspace), new Work(other, workspace)]
    const tasks = await here.createAll(many(3_000, () => newTask()))
    const replies = await Promise.all(
      tasks.map((task) => Promise.all([here.claim(task, alpha), there.claim(task, beta)])),
    )
    for (const pair of replies) expect(tally(pair)).toEqual({ GRANTED: 1, DENIED_ACTIVE_CLAIM: 1 })
    expect((await store.counts(workspace)).activeClaims).toBe(3_000)
    const winners = replies.map((pair) => granted(pair.find(({ ok }) => ok)!).agent)
    const holders = await store.tasksById(
      workspace,
      tasks.map(({ id }) => id),
    )
    expect(holders.map(({ record }) => record.agent)).toEqual(winners)
  })

  test('of many that race for every single write, none starves', async () => {
    const workspace = await newWorkspace()
    const third = await ValkeyStore.open(url, options)
    const nodes = [store, other, third].map((one) => new Work(one, workspace, new Combiner(one, NO_COMPANY)))
    await nodes[0]!.createAll(many(300, () => newTask()))
    const given: number[] = []
    const done = nodes.map(() => 0)
    let left = true
    const takes = async (node: Work, i: number) => {
      while (left) {
        const tasks = grantedTasks(await node.next(holder(`agent-${i}`)))
        if (tasks.length === 0) left = false
        given.push(...tasks.map(({ id }) => id))
        done[i]! += tasks.length
      }
    }
    await Promise.all(nodes.flatMap((node, i) => many(4, () => takes(node, i))))
    expect(given.toSorted((a, b) => a - b)).toEqual(many(300, (i) => i + 1))
    for (const count of done) expect(count).toBeGreaterThan(30)
    await third.close()
  })

  test.each(['alone', 'on a track'])(
    'a client on a slow connection gets its turn, however fast the others are: %s',
    async (where) => {
      const workspace = await newWorkspace()
      const projectId = await store.project(workspace, 'shop')
      // A claim on a track takes a second read.
      if (where === 'on a track') await store.setTrack(workspace, projectId, 'A', 1)
      const [task] = await new Work(store, workspace).createAll([newTask({ key: 'A-001-x', projectId })])
      const connection = await connectionTo(url, { pass: () => sleep(20) })
      const far = await ValkeyStore.open(connection.url, { prefix })
      let isDone = false
      // One alone never queues.
      const hasty = (async () => {
        while (!isDone) await new Work(store, workspace).create()
      })()
      const { decided, answer } = await claimThrough(far, workspace, task!)
      isDone = true
      await hasty
      expect(outcome(answer)).toBe('GRANTED')
      // Once to lose, once because a writer was under way when it took the turn, and once more to be fair to slow machines.
      expect(decided).toBeLessThanOrEqual(3)
      await far.close()
      await connection.close()
    },
  )

  test('a client without the turn cannot write', async () => {
    const workspace = await newWorkspace()
    const [task] = await new Work(store, workspace).createAll([newTask()])
    let writes = 0
    const connection = await connectionTo(url, {
      async pass(data) {
        if (!data.includes('task_assigned') || writes++ > 0) return
        // Another client takes the writer lock between the read and the write.
        await raw.set(`{${prefix}:${workspace}}:writer-lock`, 'another', 'PX', 100)
      },
    })
    const far = await ValkeyStore.open(connection.url, { prefix })
    const { decided, answer } = await claimThrough(far, workspace, task!)
    expect(outcome(answer)).toBe('GRANTED')
    expect(decided).toBe(2)
    await far.close()
    await connection.close()
  })

  test('a client that died with the turn, or queued for it, stops the others only for a moment', async () => {
    const workspace = await newWorkspace()
    const tag = `{${prefix}:${workspace}}:`
    await raw.set(`${tag}writer-lock`, 'a dead client', 'PX', 700)
    await raw.rpush(`${tag}writer-queue`, 'another one')
    const work = new Work(store, workspace)
    expect((await work.create()).state).toBe('queued')
    expect(await raw.exists(`${tag}writer-lock`, `${tag}writer-queue`), 'no one has it any more').toBe(0)
  })

  test('a turn that is not used is passed on at once', async () => {
    const workspace = await newWorkspace()
    const here = new Work(store, workspace)
    const task = await here.create()
    await here.claim(task, alpha)
    const tag = `{${prefix}:${workspace}}:`
    await raw.set(`${tag}writer-lock`, 'that of another', 'PX', 60_000)
    const waiting = here.claim(task, beta)
    await until(async () => (await raw.llen(`${tag}writer-queue`)) === 1)
    // It stands in line; the turn comes to it, and its refusal needs no write.
    const [waiter] = await raw.lrange(`${tag}writer-queue`, 0, 0)
    await raw.multi().lpop(`${tag}writer-queue`).set(`${tag}writer-lock`, waiter!, 'PX', 60_000).exec()
    expect(outcome(await waiting)).toBe('DENIED_ACTIVE_CLAIM')
    expect(await raw.exists(`${tag}writer-lock`)).toBe(0)
  })

  test('a decision on an outdated read is not written', async () => {
    const workspace = await newWorkspace({ minLeaseSeconds: 1 })
    const work = new Work(store, workspace)
    const task = await work.create()
    const hold = granted(await work.claim(task, alpha, { leaseMs: 1_000 }))
    const { session, generation } = hold
    const renewal: Request = {
      on: 'task',
      actor: 'agent:alpha',
      taskId: task.id,
      uuid: task.uuid,
      command: { kind: 'renew', fence: { session, generation } },
    }
    const decided: Reply[] = []
    const answer = await store.transact(
      workspace,
      batchStep(readSetOf([renewal]), (view) => {
        const { replies, changes } = decideAll(view, [renewal])
        decided.push(replies[0]!)
        // The process sleeps past the end of the lease, between deciding and writing.
        if (decided.length === 1) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_200)
        return { answer: replies[0]!, changes }
      }),
    )
    expect(decided.map(outcome)).toEqual(['RENEWED', 'ALREADY_EXPIRED'])
    expect(outcome(answer)).toBe('ALREADY_EXPIRED')
    expect((await work.eventsOf(task)).map(({ type }) => type)).not.toContain('claim_renewed')
  })

  test('a write whose answer is lost is done once, and its answer is recovered', async () => {
    const workspace = await newWorkspace()
    const connection = await cuttableConnectionTo(url)
    const far = await ValkeyStore.open(connection.url, impatient)
    const work = new Work(store, workspace)
    const task = await work.create()
    // No read writes an event.
    connection.loseAnswersTo('task_assigned')
    const claim = new Work(far, workspace).claim(task, alpha)
    await until(async () => (await work.record(task)).generation === 1)
    connection.restore()
    expect(granted(await claim)).toMatchObject({ generation: 1, ...alpha })
    expect(await work.claims(task)).toHaveLength(1)
    await far.close()
    await connection.close()
  })

  test('a write that arrives after it was given up is not done', async () => {
    const workspace = await newWorkspace()
    let first: (() => Promise<void>) | null = null
    let isOvertaken = false
    const connection = await connectionTo(url, {
      async pass(data, deliver) {
        if (!data.includes('task_assigned')) return
        if (!first) {
          first = deliver
          await new Promise(() => undefined)
        }
        // The first try arrives right before the second one.
        if (!isOvertaken) await first()
        isOvertaken = true
      },
    })
    const far = await ValkeyStore.open(connection.url, impatient)
    const work = new Work(store, workspace)
    const task = await work.create()
    expect(outcome(await new Work(far, workspace).claim(task, alpha))).toBe('GRANTED')
    expect(isOvertaken).toBe(true)
    expect(await work.claims(task)).toMatchObject([{ generation: 1, state: 'active', ...alpha }])
    await isConsistent(work)
    await far.close()
    await connection.close()
  })

  test('where it cannot be recovered, the caller gets an unknown outcome', async () => {
    const workspace = await newWorkspace()
    const connection = await cuttableConnectionTo(url)
    const far = await ValkeyStore.open(connection.url, impatient)
    const work = new Work(store, workspace)
    const task = await work.create()
    connection.loseAnswersTo('task_assigned')
    const claim = new Work(far, workspace).claim(task, alpha)
    claim.catch(() => undefined)
    await until(async () => (await work.record(task)).generation === 1)
    connection.cut()
    await expect(claim).rejects.toThrow(/unknown whether/)
    await expect(new Work(far, workspace).create()).rejects.toThrow(StoreUnavailable)
    await expect(far.task(workspace, task.id)).rejects.toThrow(StoreUnavailable)
    connection.restore()
    expect(await until(() => far.task(workspace, task.id).catch(() => null))).not.toBeNull()
    await far.close()
    await connection.close()
  })

  test('prefixes do not see each other', async () => {
    const elsewhere = await ValkeyStore.open(url, { prefix: `${prefix}1` })
    const heard: number[] = []
    elsewhere.onCommit((workspaceId) => heard.push(workspaceId))
    const [mine, theirs] = [await store.workspace('same'), await elsewhere.workspace('same')]
    const task = await new Work(store, mine).create({ key: 'A-001-x' })
    const others = new Work(elsewhere, theirs)
    expect(await elsewhere.task(theirs, task.id)).toBeNull()
    expect(await others.next(alpha)).toMatchObject({ claims: [] })
    expect(await elsewhere.tasksByKey(theirs, [{ projectId: 0, key: 'A-001-x' }])).toEqual([])
    expect(outcome(await others.tryCreate([newTask({ key: 'A-001-x' })]))).toBe('CREATED')
    expect(await others.events()).toHaveLength(1)
    expect(new Set(heard)).toEqual(new Set([theirs]))
    await elsewhere.close()
  })

  test.each([
    [
      '1',
      'The data on this Valkey server was written by an earlier, unreleased version of Baton (format 1); use an empty server or another prefix.',
    ],
    ['999', 'The data on this Valkey server was written by another version of Baton (format 999, not 5).'],
  ])('data of format %s is refused, and nothing of it changes', async (format, message) => {
    const other = `${prefix}-format-${format}`
    await raw.set(`{${other}}:format`, format)
    const refusal = await ValkeyStore.open(url, { prefix: other }).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StartRefused)
    expect((refusal as Error).message).toBe(message)
    expect(await raw.get(`{${other}}:format`)).toBe(format)
    expect(await namesOf(`{${other}`)).toEqual([`{${other}}:format`])
  })

  test('a prefix that would spoil the hash tag is refused', () =>
    expect(ValkeyStore.open(url, { prefix: 'a}b' })).rejects.toThrow(StartRefused))

  test('10,000 tasks are created in one request, and 2,000 requests run in one batch', async () => {
    const workspace = await newWorkspace()
    const work = new Work(store, workspace, new Combiner(store, { largestBatch: 2_000 }))
    const tasks = await work.createAll(many(10_000, (i) => newTask({ title: `task ${i}`, userId: 'ann' })))
    expect(tasks.map(({ id }) => id)).toEqual(many(10_000, (i) => i + 1))
    expect((await work.events()).map(({ taskId }) => taskId)).toEqual(tasks.map(({ id }) => id))
    const newest = await store.tasks(workspace, { userId: 'ann' }, 3)
    expect(newest.map(({ details }) => details.title)).toEqual(['task 9999', 'task 9998', 'task 9997'])
    const replies = await Promise.all(many(4_000, (i) => work.next(holder(`agent-${i % 7}`, `session-${i}`))))
    expect(replies.flatMap(grantedTasks).map(({ id }) => id)).toEqual(many(4_000, (i) => i + 1))
    const submits = await Promise.all(
      many(4_000, (i) => work.submit(tasks[i]!, atGeneration(holder('any', `session-${i}`), 1))),
    )
    expect(tally(submits)).toEqual({ ACCEPTED: 4_000 })
  })

  test('numbers near 2^52 come back unchanged', async () => {
    const workspace = await newWorkspace()
    const last = 2 ** 52 - 1
    await raw.hset(metaOf(workspace), { lastId: String(last - 3), version: String(2 ** 53 - 100) })
    const work = new Work(store, workspace)
    const due = last - 5
    const tasks = await work.createAll(
      many(3, (i) => newTask({ expiresAt: due, priority: 5 + i, userId: 'ann' })),
    )
    expect(tasks.map(({ id }) => id)).toEqual([last - 2, last - 1, last])
    expect(grantedTasks(await work.next(alpha, { limit: 3 })).map(({ id }) => id)).toEqual([
      last,
      last - 1,
      last - 2,
    ])
    expect(await work.record(tasks[1]!)).toMatchObject({ id: last - 1, expiresAt: due })
    const touch = () => work.session(alpha.session, { kind: 'touch', agent: 'alpha' })
    await touch()
    expect(await touch()).toMatchObject({ holds: 3 })
    expect(
      (await store.tasks(workspace, { userId: 'ann', before: last }, 9)).map(({ record }) => record.id),
    ).toEqual([last - 1, last - 2])
    await work.update(tasks[0]!, { title: 'n' })
    await work.submit(tasks[0]!, atGeneration(alpha, 1), { n: last })
    expect(await work.results(tasks[0]!)).toMatchObject([{ data: { n: last } }])
    expect(Number(await raw.hget(metaOf(workspace), 'version'))).toBeGreaterThan(2 ** 53 - 100)
  })

  test('names that look like keys, tags or patterns are only names', async () => {
    const odd = ['}', '{x}', '*', 'a:b', 'queue:', '\n', '日本 {tag}:meta', ' ']
    const work = new Work(store, await newWorkspace())
    for (const name of odd) {
      const by = holder(name, `${name}/session`)
      await work.register(by.session, 1, { agent: name, capabilities: [name] })
      const task = await work.create({ onlyAgent: name, capabilities: [name], userId: name, title: name })
      expect(await work.next(holder(`${name}!`), { capabilities: [name] })).toMatchObject({ claims: [] })
      const [taken] = grantedTasks(await work.under(`key ${name}`).next(by, { capabilities: [name] }))
      expect(taken).toMatchObject({ id: task.id, agent: name, session: by.session })
      expect(await store.session(work.workspace, by.session)).toMatchObject({
        agent: name,
        capabilities: [name],
      })
      expect((await store.tasks(work.workspace, { userId: name }, 9)).map(({ record }) => record.id)).toEqual(
        [task.id],
      )
    }
  })

  test('all keys of a workspace have its hash tag, and no other keys do', async () => {
    const workspace = await newWorkspace()
    const work = new Work(store, workspace)
    const project = await store.project(workspace, 'shop')
    await store.setTrack(workspace, project, 'A', 2)
    const before = new Set(await namesOf('{'))
    const first = await work.create({ key: 'A-001-x', projectId: project, userId: '{ann}' })
    await work.create({ onlyAgent: '}', capabilities: ['{'], maxRetries: 0 }, [first])
    await work.register('{worker}', 3)
    const hold = granted(await work.under('}{').claim(first, holder('alpha', '{worker}')))
    await work.progress(first, hold, { percent: 10 })
    await work.submit(first, hold)
    const held = await work.create()
    await work.claim(held, alpha)
    await work.cancel(held)
    const made = (await namesOf('{')).filter(
      (name) => !before.has(name) && name.includes(`${prefix}:${workspace}}`),
    )
    expect(made.length).toBeGreaterThan(15)
    const tags = new Set(made.map((name) => /^[^{]*\{([^}]+)\}/.exec(name)?.[1]))
    expect(tags).toEqual(new Set([`${prefix}:${workspace}`]))
  })

  test('a transaction that changes nothing writes nothing', async () => {
    const workspace = await newWorkspace()
    const work = new Work(store, workspace)
    const task = await work.create()
    const hold = granted(await work.claim(task, alpha))
    const dump = async () => {
      const names = (await namesOf(`{${prefix}:${workspace}}`))
        .filter((name) => !name.includes(':transaction:'))
        .toSorted()
      return Promise.all(names.map(async (name) => [name, (await raw.dumpBuffer(name))!.toString('base64')]))
    }
    const before = await dump()
    expect(outcome(await work.claim(task, beta))).toBe('DENIED_ACTIVE_CLAIM')
    expect(await work.next(beta)).toMatchObject({ claims: [] })
    expect(outcome(await work.release({ id: 99, uuid: task.uuid }, hold))).toBe('NOT_FOUND')
    await expect(work.submitText(task, hold, 'no JSON')).rejects.toThrow(SyntaxError)
    expect(await dump()).toEqual(before)
  })

  test('commits of this process and of others are notified, each once', async () => {
    const workspace = await newWorkspace()
    const heard: [string, number, boolean][] = []
    const stop = store.onCommit((id, { events, tasksWaiting }) => {
      if (id === workspace) heard.push(['here', events, tasksWaiting])
    })
    const [here, there] = [new Work(store, workspace), new Work(other, workspace)]
    // The first ones may be missed, while the subscription is made.
    await until(async () => {
      await there.create()
      return heard.length > 0
    })
    await sleep(20)
    heard.length = 0
    const task = await here.create()
    expect(heard).toEqual([['here', 1, true]])
    await there.claim(task, alpha)
    await until(async () => heard.length === 2)
    expect(heard[1]).toEqual(['here', 1, false])
    stop()
    await there.create()
    await sleep(50)
    expect(heard).toHaveLength(2)
  })

  test('the lineage of a finished task expires, and is kept when the task is reopened', async () => {
    const workspace = await newWorkspace({ claimHistoryRetentionDays: 2 })
    const work = new Work(store, workspace)
    const task = await work.create()
    const ttlMs = () => raw.pttl(`{${prefix}:${workspace}}:claims:${task.id}`)
    await work.release(task, granted(await work.claim(task, alpha)))
    const hold = granted(await work.claim(task, alpha))
    expect(await ttlMs()).toBe(-1)
    await work.submit(task, hold)
    const twoDays = 2 * 86_400_000
    expect(await ttlMs()).toBeGreaterThan(twoDays - 60_000)
    expect(await ttlMs()).toBeLessThanOrEqual(twoDays)
    await work.reset(task)
    expect(await ttlMs()).toBe(-1)
    expect(await work.claims(task)).toHaveLength(2)
  })

  test('the last claim of a finished task is forgotten with the earlier ones', async () => {
    const workspace = await newWorkspace({ claimHistoryRetentionDays: 2 })
    const work = new Work(store, workspace)
    const task = await work.create()
    await work.submit(task, granted(await work.claim(task, alpha)))
    expect(await work.claims(task)).toMatchObject([{ generation: 1, endReason: 'COMPLETED' }])
    // Its last value but two: until when its claims are kept.
    const name = `{${prefix}:${workspace}}:task:${task.id}`
    const stored = JSON.parse((await raw.get(name))!) as unknown[]
    const until = stored.at(-3) as number
    const twoDays = 2 * 86_400_000
    expect(Math.abs(until - twoDays - (await work.record(task)).completedAt!)).toBeLessThan(60_000)
    await raw.set(name, JSON.stringify(stored.with(-3, until - twoDays)))
    expect(await work.claims(task)).toEqual([])
    expect(await work.results(task)).toHaveLength(1)
  })

  test('missed tasks are found from notes, and the notes are deleted', async () => {
    const workspace = await newWorkspace()
    const work = new Work(store, workspace)
    const notes = () => raw.zrange(`{${prefix}:${workspace}}:unsettled`, 0, -1)
    const mine = async () => (await store.missedTasks(1_000)).filter((task) => task.workspaceId === workspace)
    const [first, second, alone] = await work.createAll(many(3, () => newTask()))
    const waiting = await work.create({}, [first!, second!])
    for (const task of [alone!, first!]) await work.submit(task, granted(await work.claim(task, alpha)))
    expect(await notes(), 'only dependencies').toEqual([`d${first!.id}`])
    expect(await mine()).toMatchObject([{ taskId: waiting.id, edges: [{ outcome: 'completed' }] }])
    await work.unblock(waiting)
    expect(await mine()).toEqual([])
    expect(await notes()).toEqual([])
    await work.submit(second!, granted(await work.claim(second!, alpha)))
    for (let i = 0; i < 2; i++)
      expect(await mine()).toMatchObject([{ taskId: waiting.id, edges: [{ dependsOn: second!.id }] }])
    await work.unblock(waiting)
    expect(await mine()).toEqual([])
    expect(await notes()).toEqual([])
  })

  test('a note that is written again while it is processed is not deleted', async () => {
    const workspace = await newWorkspace()
    const tag = `{${prefix}:${workspace}}:`
    const work = new Work(store, workspace)
    const first = await work.create()
    const waiting = await work.create({}, [first])
    await work.submit(first, granted(await work.claim(first, alpha)))
    await work.unblock(waiting)
    // The note of the first end is still there, with nothing to do. While it is processed, the same happens once more.
    const connection = await connectionTo(url, {
      async pass(data) {
        if (data.includes(`${tag}unsettled`) && !/zcard|zrandmember/.test(String(data)))
          await raw.zadd(`${tag}unsettled`, 999, `d${first.id}`)
      },
    })
    const far = await ValkeyStore.open(connection.url, { prefix })
    await far.missedTasks(1_000)
    expect(await raw.zrange(`${tag}unsettled`, 0, -1)).toEqual([`d${first.id}`])
    await far.close()
    await connection.close()
  })

  test('a task that gets an ended dependency again is noted as well', async () => {
    const workspace = await newWorkspace()
    const work = new Work(store, workspace)
    const whole = await work.create()
    const [part] = await work.createAll([
      newTask({ parent: { id: whole.id, uuid: whole.uuid }, merge: 'object' }),
    ])
    const mine = async () => (await store.missedTasks(1_000)).filter((task) => task.workspaceId === workspace)
    await work.submit(part!, granted(await work.claim(part!, alpha)))
    expect(await mine()).toMatchObject([{ taskId: whole.id, merge: 'object' }])
    await work.cancel(whole)
    expect(await mine(), 'and deleted').toEqual([])
    await work.reset(whole)
    expect(await work.record(whole)).toMatchObject({ state: 'pending', blocked: true })
    expect(await mine()).toMatchObject([{ taskId: whole.id, upstream: null }])
  })

  test('lists hold current members only', async () => {
    const workspace = await newWorkspace()
    const tag = `{${prefix}:${workspace}}:`
    const work = new Work(store, workspace)
    const [dead, held] = await work.createAll([newTask({ maxRetries: 0 }), newTask()])
    await work.register(alpha.session, 5)
    expect(await raw.smembers(`${tag}queues`)).toEqual(['0//'])
    await work.fail(dead!, granted(await work.claim(dead!, alpha)))
    granted(await work.claim(held!, alpha))
    expect(await raw.exists(`${tag}queues`)).toBe(0)
    expect(await raw.zcard(`${tag}dead-letters`)).toBe(1)
    await work.retry(dead!)
    expect(await raw.zcard(`${tag}dead-letters`)).toBe(0)
    expect(await raw.zcard(`${tag}holds`)).toBe(1)
    await work.cancel(held!)
    expect(await raw.zcard(`${tag}lost:${alpha.session}`)).toBe(1)
    await until(async () => {
      const reply = await work.session(alpha.session, { kind: 'heartbeat' })
      return reply.ok && (reply.lost as unknown[]).length === 0
    })
    expect(await raw.exists(`${tag}lost:${alpha.session}`, `${tag}holds`, `${tag}held`, `${tag}due`)).toBe(0)
  })

  describe('with many track queues', () => {
    let under: StoreUnderTest
    afterAll(() => under?.close())

    test('each is found, and one that holds nearly everything is not cut short', async () => {
      under = await openStore.valkey()
      const workspace = await under.addWorkspace(roomy)
      const work = new Work(under.store, workspace)
      const tasks = [
        ...many(150, (i) => newTask({ projectId: i + 1 })),
        ...many(3_000, () => newTask({ projectId: 999 })),
      ]
      await work.createAll(tasks)
      const ask = {
        ...readSetOf([]),
        waiting: [
          { capabilities: [], projectId: null, trackQueues: null, purposes: ONLY_WORK, limit: 1_000 },
        ],
      }
      const shown = await under.store.transact(
        workspace,
        batchStep(ask, (view) => ({
          answer: view.waiting[0]!.map((id) => view.records.get(id)!.projectId),
          changes: decideAll(view, []).changes,
        })),
      )
      expect(new Set(shown).size).toBe(151)
      expect(shown.filter((projectId) => projectId === 999)).toHaveLength(1_000)
      const claims = await Promise.all(many(1_000, (i) => work.next(holder(`agent-${i}`), { limit: 2 })))
      expect(claims.flatMap(grantedTasks)).toHaveLength(2_000)
    })
  })
})

/** A claim, and how often it had to be decided. */
async function claimThrough(store: ValkeyStore, workspace: number, task: Task) {
  const claim: Request = {
    on: 'task',
    actor: 'agent:alpha',
    taskId: task.id,
    uuid: task.uuid,
    command: { kind: 'claim', ...alpha, leaseMs: 60_000, capabilities: [] },
  }
  let decided = 0
  const answer = await store.transact(
    workspace,
    batchStep(readSetOf([claim]), (view) => {
      decided += 1
      const { replies, changes } = decideAll(view, [claim])
      return { answer: replies[0]!, changes }
    }),
  )
  return { decided, answer }
}

interface Direction {
  /** Called with what a client sends, before it is forwarded; `deliver` sends it to the server and waits for the answer. */
  pass(data: Buffer, deliver: () => Promise<void>): Promise<void>
}

/** A connection to the server on which faults happen. */
const connectionTo = (url: string, { pass }: Direction) =>
  faultyConnectionTo(url, async (data, server) => {
    const deliver = async () => {
      const answered = once(server, 'data')
      server.write(data)
      await answered
    }
    await pass(data, deliver)
    server.write(data)
  })
