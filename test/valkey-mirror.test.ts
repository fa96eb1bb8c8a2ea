import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import { decideAll } from '../src/core/batch/decide-all.ts'
import { type Request, readSetOf } from '../src/core/batch/requests.ts'
import { replay } from '../src/core/events.ts'
import { Combiner } from '../src/kernel/combiner.ts'
import { READ_VIEW } from '../src/store/valkey/read-view.lua.ts'
import { ReadyPrefix } from '../src/store/valkey/ready-prefix.ts'
import { ValkeyStore } from '../src/store/valkey/store.ts'
import { until } from './support/nodes.ts'
import { freshValkeyPrefix } from './support/servers/valkey.ts'
import { granted, handedOut, holder, newTask, outcome, Work } from './support/tasks.ts'

/** Batches that are decided on what a process knows by itself, without a read. */

const alpha = holder('alpha')
const beta = holder('beta')
const READ = createHash('sha1').update(READ_VIEW).digest('hex')

describe.skipIf(inject('valkeyUrl') === null)('a process that writes alone', () => {
  const url = inject('valkeyUrl')!
  let connection: Awaited<ReturnType<typeof watchedConnectionTo>>
  let here: ValkeyStore
  let elsewhere: ValkeyStore
  let work: Work
  let there: Work

  beforeEach(async () => {
    const prefix = freshValkeyPrefix()
    connection = await watchedConnectionTo(url)
    here = await ValkeyStore.open(connection.url, { prefix })
    elsewhere = await ValkeyStore.open(url, { prefix })
    const workspace = await here.workspace('w', { maxConcurrentClaims: 1_000 })
    work = new Work(here, workspace)
    there = new Work(elsewhere, workspace)
    await work.createAll(Array.from({ length: 20 }, () => newTask()))
    // The second read finds the workspace as the process left it.
    for (let i = 0; i < 2; i++) expect(handedOut(await work.next(alpha))).toHaveLength(1)
  })
  afterEach(async () => {
    await Promise.all([here.close(), elsewhere.close()])
    await connection.close()
  })

  async function isConsistent(): Promise<void> {
    const events = await there.events()
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
    for (const id of new Set(events.flatMap(({ taskId }) => taskId ?? []))) {
      const { state, generation } = await there.record({ id })
      expect(replay(events.filter(({ taskId }) => taskId === id))).toEqual({ state, generation })
    }
  }

  /** Repeated where the machine was so slow that the server's clock was no longer known. */
  async function withoutReading(act: () => Promise<void>): Promise<void> {
    await until(async () => {
      connection.reads = 0
      await act()
      return connection.reads === 0
    })
  }

  test('claims, submits and enqueues without reading', async () => {
    await withoutReading(async () => {
      const [task] = handedOut(await work.next(alpha))
      await work.submit(task!, { ...alpha, generation: 1 })
      await work.create()
    })
    await isConsistent()
  })

  test('sees in the queue what it enqueued and what came back, in order', async () => {
    await withoutReading(async () => {
      const urgent = await work.create({ priority: 100 })
      const [first] = handedOut(await work.next(alpha))
      expect(first!.id).toBe(urgent.id)
      await work.release(first!, { ...alpha, generation: 1 })
      expect(handedOut(await work.next(alpha)).map(({ id }) => id)).toEqual([urgent.id])
    })
  })

  test('is refused what it decided on a state that another process has changed, and decides again', async () => {
    const decided: string[] = []
    const request: Request = {
      ...{ on: 'next', actor: 'queue', session: alpha.session, leaseMs: 60_000, limit: 1 },
      pick: { agent: alpha.agent, capabilities: [] },
    }
    const [taken] = handedOut(await there.next(beta))
    await here.transact(work.workspace, readSetOf([request]), (view) => {
      const { replies, changes } = decideAll(view, [request])
      decided.push(...handedOut(replies[0]!).map(({ uuid }) => uuid))
      return { answer: replies[0], changes }
    })
    expect(decided).toHaveLength(2)
    expect(decided[0]).toBe(taken!.uuid)
    expect(decided[1]).not.toBe(taken!.uuid)
    expect(await there.record(taken!)).toMatchObject({ generation: 1, session: beta.session })
    await isConsistent()
  })

  test('has every write refused that follows a refused one, even if as many were done as it expects', async () => {
    let theirs: Promise<unknown> | null = null
    // Two are under way, the second decided on the first; a write of another process, which takes both their tasks, arrives
    // before them.
    connection.holdUntil = (data) => {
      if (!data.includes('task_assigned')) return null
      theirs ??= there.next(beta, { limit: 2 })
      return theirs
    }
    const second = work.through(new Combiner(here))
    const replies = await Promise.all([work.next(alpha), second.next(alpha)])
    const ids = [...replies.flatMap(handedOut), ...handedOut((await theirs!) as never)].map(({ id }) => id)
    expect(new Set(ids).size).toBe(4)
    await isConsistent()
    expect((await here.counts(work.workspace)).activeClaims).toBe(6)
  })

  test('says that there is nothing only after a read', async () => {
    await work.next(alpha, { limit: 100 })
    expect(handedOut(await work.next(alpha))).toEqual([])
    const task = await there.create()
    expect(handedOut(await work.next(alpha)).map(({ id }) => id)).toEqual([task.id])
    const mine = { ...alpha, generation: 1 }
    await there.release(task, mine)
    granted(await there.claim(task, beta))
    expect(outcome(await work.release(task, mine))).not.toBe('RELEASED')
    expect(await there.record(task)).toMatchObject({ generation: 2, session: beta.session })
  })

  test('knows how many tasks a worker holds', async () => {
    await work.register('worker', 2, { agent: alpha.agent })
    const worker = holder(alpha.agent, 'worker')
    const [first] = handedOut(await work.next(worker))
    expect(handedOut(await work.next(worker))).toHaveLength(1)
    expect(outcome(await work.next(worker))).toBe('NO_CAPACITY')
    await work.submit(first!, { agent: alpha.agent, session: 'worker', generation: 1 })
    expect(handedOut(await work.next(worker))).toHaveLength(1)
  })
})

describe('the known part of a queue', () => {
  const task = (id: number, rank = id) => ({ id, rank })
  const ids = (prefix: ReadyPrefix, count: number) => prefix.first(count)?.map(({ id }) => id) ?? null

  test('gives its first tasks as long as it has enough of them', () => {
    const prefix = new ReadyPrefix([task(1), task(2), task(3)], false)
    expect(ids(prefix, 3)).toEqual([1, 2, 3])
    prefix.remove(1)
    expect(ids(prefix, 2)).toEqual([2, 3])
    expect(ids(prefix, 3)).toBeNull()
  })

  test('takes up a task where it belongs, and none behind those that are known', () => {
    const prefix = new ReadyPrefix([task(1, 10), task(2, 20)], false)
    expect(prefix.add(task(9, 10))).toBe(true)
    expect(prefix.add(task(8, 30))).toBe(false)
    expect(ids(prefix, 3)).toEqual([1, 9, 2])
    prefix.remove(9)
    expect(ids(prefix, 2)).toEqual([1, 2])
  })

  test('a queue that is known as a whole is known to be empty, until it grows too long', () => {
    const prefix = new ReadyPrefix([], true)
    expect(ids(prefix, 5)).toEqual([])
    let id = 1
    while (prefix.add(task(id))) id += 1
    expect(id).toBe(4_001)
    expect(ids(prefix, 4_001)).toBeNull()
    for (let taken = 1; taken < id; taken++) prefix.remove(taken)
    expect(ids(prefix, 1)).toBeNull()
  })
})

/** Counts the reads of views, and can hold back what the client sends. */
async function watchedConnectionTo(url: string) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const watched = {
    url: '',
    reads: 0,
    holdUntil: (_data: Buffer): Promise<unknown> | null => null,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    sockets.add(client).add(server)
    let last: Promise<unknown> = Promise.resolve()
    client.on('data', (data: Buffer) => {
      if (data.includes(READ)) watched.reads += 1
      last = last.then(() => watched.holdUntil(data)).then(() => void server.write(data))
    })
    server.on('data', (data) => client.write(data))
    for (const socket of [client, server]) socket.on('error', () => undefined)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  watched.url = `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  return watched
}
