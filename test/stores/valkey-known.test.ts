import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { Combiner } from '../../src/kernel/combiner.ts'
import { READ_VIEW } from '../../stores/valkey/read-view.lua.ts'
import { Script } from '../../stores/valkey/script.ts'
import { ValkeyStore } from '../../stores/valkey/store.ts'
import { WRITE } from '../../stores/valkey/write.lua.ts'
import { faultyConnectionTo } from '../support/servers/faulty-connection.ts'
import { freshValkeyPrefix } from '../support/servers/valkey.ts'
import { granted, grantedTasks, holder, newTask, outcome, Work } from '../support/tasks.ts'

/** What a process decides on what it has read and written itself, without reading again. */

const alpha = holder('alpha')
const beta = holder('beta')
const ONE_EACH = { largestBatch: 1, underWayPerWorkspace: 2 }

describe.skipIf(inject('valkeyUrl') === null)('valkey, by what is known', () => {
  const url = inject('valkeyUrl')!
  const prefix = freshValkeyPrefix()
  let store: ValkeyStore
  let other: ValkeyStore
  let raw: Redis
  let workspaces = 0
  beforeAll(async () => {
    store = await ValkeyStore.open(url, { prefix })
    other = await ValkeyStore.open(url, { prefix })
    raw = new Redis(url)
  })
  afterAll(async () => {
    await Promise.all([store.close(), other.close()])
    for await (const names of raw.scanStream({ match: `{${prefix}*`, count: 10_000 }))
      if (names.length > 0) await raw.unlink(names)
    raw.disconnect()
  })

  async function withTasks(count: number, through = store): Promise<Work> {
    const workspace = await store.workspace(`w-${++workspaces}`, { maxConcurrentClaims: 1_000 })
    const work = new Work(through, workspace)
    await work.createAll(Array.from({ length: count }, () => newTask()))
    return work
  }

  async function taken(work: Work, by = alpha): Promise<number[]> {
    return grantedTasks(await work.next(by)).map(({ id }) => id)
  }

  /** So that the next few are known. */
  const takeSome = async (work: Work) => {
    for (let i = 0; i < 5; i++) await taken(work)
  }

  test('one task after the other is read for only now and then', async () => {
    const sha = createHash('sha1').update(READ_VIEW).digest('hex')
    let reads = 0
    const proxy = await proxyTo(url, async (data) => {
      reads += String(data).split(sha).length - 1
      return true
    })
    const far = await ValkeyStore.open(proxy.url, { prefix })
    const work = await withTasks(50, far)
    reads = 0
    const ids: number[] = []
    for (let i = 0; i < 40; i++) ids.push(...(await taken(work)))
    expect(ids).toEqual(Array.from({ length: 40 }, (_, i) => i + 1))
    expect(reads).toBeGreaterThan(0)
    expect(reads).toBeLessThan(20)
    await far.close()
    await proxy.close()
  })

  test('a task that another process took is not handed out again', async () => {
    const work = await withTasks(20)
    await takeSome(work)
    expect(await taken(new Work(other, work.workspace), beta)).toEqual([6])
    expect(await taken(work)).toEqual([7])
  })

  test('a task that another process created is found at once', async () => {
    const work = await withTasks(1)
    expect(await taken(work)).toEqual([1])
    expect(await taken(work)).toEqual([])
    await new Work(other, work.workspace).create()
    expect(await taken(work)).toEqual([2])
  })

  test('what was decided on a write that another process forestalled is decided again', async () => {
    const work = await withTasks(20)
    const theirs = new Work(other, work.workspace)
    await takeSome(work)
    const one = work.through(new Combiner(store, ONE_EACH))
    const races = await Promise.all([taken(theirs, beta), taken(one), taken(one), taken(one), taken(one)])
    expect(races.flat().toSorted((a, b) => a - b)).toEqual([6, 7, 8, 9, 10])
    const events = await work.events()
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1))
  })

  test('a task that comes to the front of the queue is handed out first', async () => {
    const work = await withTasks(20)
    await takeSome(work)
    const urgent = await work.create({ priority: 10 })
    expect(await taken(work)).toEqual([urgent.id])
    expect(await taken(work)).toEqual([6])
  })

  test('a released task is handed out again', async () => {
    const work = await withTasks(20)
    await takeSome(work)
    const [task] = grantedTasks(await work.next(alpha))
    const fence = { session: task!.session!, generation: task!.generation }
    const release = { kind: 'release', fence, reason: 'VOLUNTARY' } as const
    expect(outcome(await work.command(task!, release))).toBe('RELEASED')
    const rest: number[] = []
    for (let i = 0; i < 15; i++) rest.push(...(await taken(work)))
    expect(rest.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 15 }, (_, i) => i + 6))
  })

  test('a worker gets no more than its capacity', async () => {
    const work = await withTasks(20)
    const opening = { agent: 'alpha', userId: null, project: null, capacity: 5, capabilities: [] }
    const command = { kind: 'open', opening: { ...opening, silenceMs: null } } as const
    await work.run({ on: 'session', actor: 'key:test', key: alpha.session, uuid: 'uuid-of-alpha', command })
    await takeSome(work)
    expect(outcome(await work.next(alpha))).toBe('NO_CAPACITY')
  })

  test('a decision with a clock that is ahead of the server is not written', async () => {
    const work = await withTasks(1)
    const key = (name: string) => `{${prefix}:${work.workspace}}:${name}`
    const head = (await raw.hget(key('meta'), 'head'))!
    const write = (now: number) =>
      new Script(WRITE).run<[string]>(
        raw,
        [key('meta'), key('writer-lock'), key('writer-queue'), key('transaction:test')],
        ['token', head, String(now), '4', 'HSET', key('meta'), 'test', '1'],
      )
    expect((await write(Date.now() + 60_000))[0]).toBe('late')
    expect((await write(Date.now()))[0]).toBe('written')
  })

  test('a write is settled after the one it was decided on', async () => {
    const seen: string[] = []
    const late: string[] = []
    let isHeld = false
    const proxy = await proxyTo(url, async (data) => {
      const text = String(data)
      const names = [...text.matchAll(/:transaction:[0-9a-f-]+:\d+/g)].map(([name]) => name)
      if (isHeld && text.includes('task_assigned')) {
        late.push(...names)
        return false
      }
      for (const name of names.filter((one) => late.includes(one)))
        seen.push(`asked for ${late.indexOf(name)}`)
      if (names.includes(late[0] ?? '')) {
        await sleep(200)
        seen.push('answered 0')
      }
      return true
    })
    const far = await ValkeyStore.open(proxy.url, { prefix, answerWithinMs: 500 })
    const work = await withTasks(20, far)
    await takeSome(work)
    const one = work.through(new Combiner(far, ONE_EACH))
    isHeld = true
    const both = Promise.all([taken(one), taken(one)])
    while (late.length < 2) await sleep(5)
    isHeld = false
    expect((await both).flat().toSorted((a, b) => a - b)).toEqual([6, 7])
    expect([...new Set(seen)]).toEqual(['asked for 0', 'answered 0', 'asked for 1'])
    expect(granted(await work.claim({ ...(await work.record({ id: 8 })) }, beta)).generation).toBe(1)
    await far.close()
    await proxy.close()
  })
})

/** `pass` says whether what a client sends is passed on; if not, nothing more of that connection is. */
function proxyTo(url: string, pass: (data: Buffer) => Promise<boolean>) {
  const cut = new WeakSet<Socket>()
  return faultyConnectionTo(url, async (data, server) => {
    if (!(await pass(data))) cut.add(server)
    if (!cut.has(server)) server.write(data)
  })
}
