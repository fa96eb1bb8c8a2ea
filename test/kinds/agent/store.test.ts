import { describe, expect, test } from 'vitest'
import type { AgentProfile } from '../../../src/kinds/agent/record.ts'
import {
  agentEvents,
  commandAgent,
  heartbeat,
  holdingIn,
  judge,
  pause,
  recordIn,
  register,
  remove,
  resume,
  settledIn,
  terminate,
} from '../../support/agents.ts'
import { assign } from '../../support/assign.ts'
import { databaseUrlOf, NO_COMPANY, storeKinds, superuser, until, useNodes } from '../../support/nodes.ts'
import { rounds } from '../../support/rounds.ts'
import {
  granted,
  grantedTasks,
  holder,
  newTask,
  outcome,
  type Task,
  tally,
  type Work,
} from '../../support/tasks.ts'
import { ago, later } from '../../support/times.ts'

/** Agents are known to the server's store, and to the one it is compared with. */
const kinds = storeKinds.filter((kind) => kind === 'memory' || kind === 'postgres')

const MINUTE = 60_000
const STALE = 3 * MINUTE
const roomy = { maxConcurrentClaims: 10_000 }
const alpha = holder('alpha')
const tasksIn = (work: Work, count: number) => work.createAll(Array.from({ length: count }, () => newTask()))
/** The agent as it is now: nothing is due, so reading changes nothing. */
const seen = async (work: Work, slug: string) => recordIn(await judge(work, slug))
const activeClaims = async (work: Work) => (await work.store.counts(work.workspace)).activeClaims

describe.each(kinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  describe('an agent', () => {
    test('is the same for every node, with all its fields', async () => {
      const [here, there] = await nodes.pair()
      const profile: AgentProfile = {
        name: 'Dev "1" {}, \\ NULL',
        model: 'opus',
        adapterType: 'process',
        adapterConfig: { env: { KEY: 's3cret' }, args: ['{a}', null, 1.5] },
        runtimeConfig: { heartbeat: { enabled: true } },
        capabilities: ['a,b', 'null', '{}'],
        taskTypes: ['docs', 'null'],
        maxConcurrentTasks: 3,
        heartbeatMs: 1_000,
        staleMs: 604_800_000,
        coordinatorEnabled: false,
        batchSize: 7,
      }
      const reply = await register(here, 'alpha', profile)
      expect(reply).toMatchObject({ ok: true, isNew: true })
      expect(await seen(there, 'alpha')).toEqual(recordIn(reply))
      expect(await seen(there, 'alpha')).toMatchObject(profile)
      const reported = {
        sentAt: Date.now(),
        status: 'degraded',
        session: 's-1',
        currentTask: 'a task',
        progressPercent: 12.5,
        step: 'testing',
        memoryMb: 512.25,
        cpuPercent: 250,
        metadata: { a: [1, { b: null }], '': '😀' },
      } as const
      const heard = recordIn(await heartbeat(there, 'alpha', reported))
      expect(heard.health).toMatchObject({ ...reported, hasHeartbeat: true })
      expect(await seen(here, 'alpha')).toEqual(heard)
      const left = recordIn(await pause(here, 'alpha', 'lunch'))
      expect(await seen(there, 'alpha')).toEqual(left)
    })

    test('of one workspace is invisible in another: neither changed nor heard there, and no limit', async () => {
      const [here, elsewhere] = [await nodes.work(), await nodes.work()]
      await register(here, 'alpha', { maxConcurrentTasks: 1 })
      for (const command of [heartbeat, pause, resume, remove, judge])
        expect(outcome(await command(elsewhere, 'alpha'))).toBe('NOT_FOUND')
      expect(grantedTasks(await elsewhere.next(alpha))).toEqual([])
      const tasks = await tasksIn(elsewhere, 2)
      for (const task of tasks) granted(await elsewhere.claim(task, alpha))
      expect(recordIn(await register(elsewhere, 'alpha')).uuid).not.toBe((await seen(here, 'alpha')).uuid)
      const ended = await terminate(here, 'alpha', false)
      expect(settledIn(ended)).toEqual([])
      expect(holdingIn(await judge(elsewhere, 'alpha'))).toHaveLength(2)
      await heartbeat(elsewhere, 'alpha')
      expect(await seen(here, 'alpha')).toMatchObject({
        state: 'terminated',
        health: { hasHeartbeat: false },
      })
    })

    test('that two nodes register at once is one agent, recorded as new once', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      const replies = await Promise.all(
        Array.from({ length: 16 }, (_, i) => register(i % 2 ? here : there, 'alpha', { batchSize: i + 1 })),
      )
      expect(replies.filter(({ isNew }) => isNew)).toHaveLength(1)
      expect((await seen(here, 'alpha')).version).toBe(16)
      const types = (await agentEvents(here)).map(({ type }) => type)
      expect(types.toSorted()).toEqual(['agent_registered', ...Array(15).fill('agent_updated')].toSorted())
    })

    test('changed concurrently under its version is changed by one request', async () => {
      const [here, there] = await nodes.pair({}, NO_COMPANY)
      await register(here, 'alpha')
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, i) => register(i % 2 ? here : there, 'alpha', { name: `${i}` }, 1)),
      )
      expect(tally(replies)).toEqual({ DONE: 1, VERSION_MISMATCH: 11 })
    })
  })

  describe('an agent’s limit of tasks', () => {
    test('is never exceeded, even if two nodes race to fill it by every kind of claim', async () => {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      await register(here, 'alpha', { maxConcurrentTasks: 5 })
      const tasks = await tasksIn(here, 60)
      const sessions = ['s-1', 's-2', 's-3']
      const replies = await Promise.all(
        tasks.map((task, i) => {
          const node = i % 2 ? here : there
          const by = holder('alpha', sessions[i % 3])
          if (i % 5 < 2) return node.claim(task, by)
          return i % 5 === 2 ? assign(node, task, by) : node.next(by, { limit: 3 })
        }),
      )
      const given = replies.flatMap((reply) => (reply.claim ? [reply.claim] : grantedTasks(reply)))
      expect(given).toHaveLength(5)
      expect(await activeClaims(here)).toBe(5)
      expect(holdingIn(await judge(there, 'alpha'))).toHaveLength(5)
      expect(await there.claim(await here.create(), alpha)).toMatchObject({ code: 'NO_CAPACITY', held: 5 })
    })

    test('is never exceeded by claims that arrive together with heartbeats', async () => {
      const [here, there] = await nodes.pair(roomy)
      for (let round = 0; round < rounds(6, 30); round++) {
        const slug = `agent-${round}`
        await register(here, slug, { maxConcurrentTasks: 3 })
        await heartbeat(here, slug)
        await tasksIn(here, 8)
        const acts = Array.from({ length: 12 }, (_, i) => {
          const node = i % 2 ? here : there
          return i % 3 === 0 ? heartbeat(node, slug) : node.next(holder(slug))
        })
        await Promise.all(acts)
        expect(holdingIn(await judge(there, slug))).toHaveLength(3)
      }
    })

    test.runIf(kind === 'postgres')(
      'counts what another batch gave it while a heartbeat waited for it',
      async () => {
        const [here, there] = await nodes.pair(roomy)
        await register(here, 'alpha', { maxConcurrentTasks: 3 })
        await heartbeat(here, 'alpha')
        await tasksIn(here, 8)
        // Batches lock tasks first, then the agents. Here both must wait for the agent: first the one that claims.
        const waits = await superuser(databaseUrlOf(here.store), async (client) => {
          const waiting = async (count: number) => {
            const { rows } = await client.query(
              `select count(*)::int as count from pg_stat_activity
              where wait_event_type = 'Lock' and datname = current_database()`,
            )
            return rows[0].count === count
          }
          await client.query('begin')
          await client.query(
            `select from baton.agents where slug = 'alpha' and workspace_id = $1 for update`,
            [here.workspace],
          )
          const claiming = there.next(alpha, { limit: 3 })
          await until(() => waiting(1))
          const both = [heartbeat(here, 'alpha'), here.next(alpha, { limit: 3 })]
          await until(() => waiting(2))
          await client.query('commit')
          return [claiming, ...both]
        })
        await Promise.all(waits)
        expect(holdingIn(await judge(here, 'alpha'))).toHaveLength(3)
      },
    )

    test('holds under load: claims and results of two nodes at once', async () => {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      await register(here, 'alpha', { maxConcurrentTasks: 3 })
      await tasksIn(here, 40)
      let done = 0
      let most = 0
      const workOn = async (node: Work, session: string) => {
        const by = holder('alpha', session)
        while (done < 40) {
          for (const task of grantedTasks(await node.next(by))) {
            most = Math.max(most, holdingIn(await judge(node, 'alpha')).length)
            expect(outcome(await node.submit(task, { ...by, generation: 1 }))).toBe('ACCEPTED')
            done += 1
          }
        }
      }
      await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) => workOn(i % 2 ? here : there, name)))
      expect(most).toBeLessThanOrEqual(3)
      expect(await activeClaims(here)).toBe(0)
    })

    test('does not apply to agents without a limit, or never registered', async () => {
      const work = await nodes.work(roomy)
      await register(work, 'free', { maxConcurrentTasks: null })
      await tasksIn(work, 60)
      expect(grantedTasks(await work.next(holder('free'), { limit: 30 }))).toHaveLength(30)
      expect(grantedTasks(await work.next(holder('unknown'), { limit: 30 }))).toHaveLength(30)
    })
  })

  describe('while two nodes claim for an agent without a limit', () => {
    /** Claims race with a command; afterwards the log shows in which order they were decided. */
    async function racing(command: (work: Work) => Promise<unknown>) {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      await register(here, 'alpha', { maxConcurrentTasks: null })
      const tasks = await tasksIn(here, 24)
      const claims = tasks.map((task, i) => (i % 2 ? here : there).claim(task, alpha))
      await Promise.all([...claims.slice(0, 12), command(here), ...claims.slice(12)])
      return { work: here, tasks, events: await here.events() }
    }
    const ROUNDS = rounds(4, 15)

    test('it is paused: it is assigned nothing after that is recorded', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { events } = await racing((work) => pause(work, 'alpha'))
        const paused = events.findIndex(({ type }) => type === 'agent_paused')
        expect(events.slice(paused).filter(({ type }) => type === 'task_assigned')).toEqual([])
      }
    })

    test('it is terminated: afterwards it holds nothing', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { work } = await racing((node) => terminate(node, 'alpha', false))
        expect(await seen(work, 'alpha')).toMatchObject({ state: 'terminated' })
        expect(holdingIn(await judge(work, 'alpha'))).toEqual([])
        expect(await activeClaims(work)).toBe(0)
      }
    })

    test('is drained: it is assigned nothing after that, and is not terminated while it holds tasks', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { work, events } = await racing((node) => terminate(node, 'alpha', true))
        const left = events.findIndex(({ type }) => type === 'agent_leaving' || type === 'agent_terminated')
        expect(events.slice(left).filter(({ type }) => type === 'task_assigned')).toEqual([])
        const { state } = await seen(work, 'alpha')
        if (state === 'terminated') expect(await activeClaims(work)).toBe(0)
      }
    })

    test('it is removed: at that moment it held nothing', async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { events } = await racing((work) => remove(work, 'alpha'))
        const removed = events.findIndex(({ type }) => type === 'agent_removed')
        if (removed === -1) continue
        expect(events.slice(0, removed).filter(({ type }) => type === 'task_assigned')).toEqual([])
      }
    })

    test('it heartbeats: every heartbeat is accepted, and renews the leases that are due for it', async () => {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      await register(here, 'alpha', { maxConcurrentTasks: null })
      const long = await tasksIn(here, 5)
      for (const task of long) granted(await ago(here, 2 * MINUTE).claim(task, alpha))
      const tasks = await tasksIn(here, 80)
      const replies = await Promise.all(
        tasks.flatMap((task, i) => {
          const [node, other] = i % 2 ? [here, there] : [there, here]
          return i % 4 ? [node.claim(task, alpha)] : [node.claim(task, alpha), heartbeat(other, 'alpha')]
        }),
      )
      expect(tally(replies)).toEqual({ GRANTED: 80, DONE: 20 })
      const renewals = replies.flatMap((reply) => (reply.settled ? settledIn(reply) : []))
      expect(renewals.map(({ taskId }) => taskId).toSorted()).toEqual(long.map(({ uuid }) => uuid).toSorted())
    })
  })

  describe('silence', () => {
    async function silent(count: number): Promise<[Work, Work, Task[]]> {
      const [here, there] = await nodes.pair(roomy, NO_COMPANY)
      const before = ago(here, STALE)
      await register(before, 'alpha', { maxConcurrentTasks: null })
      await heartbeat(before, 'alpha')
      const tasks = await tasksIn(here, count)
      for (const task of tasks) granted(await here.claim(task, alpha))
      return [here, there, tasks]
    }

    test('judged by many at once costs the agent its tasks once', async () => {
      const [here, there, tasks] = await silent(3)
      await Promise.all(Array.from({ length: 10 }, (_, i) => judge(i % 2 ? here : there, 'alpha')))
      const events = await here.events()
      expect(events.filter(({ type }) => type === 'agent_stale')).toHaveLength(1)
      expect(events.filter(({ type }) => type === 'task_agent_lost')).toHaveLength(3)
      for (const task of tasks) {
        expect(await there.record(task)).toMatchObject({ state: 'awaiting_retry', attempt: 1 })
        expect(await there.claims(task)).toMatchObject([{ state: 'expired', endReason: 'AGENT_LOST' }])
      }
      expect(await seen(there, 'alpha')).toMatchObject({ state: 'error', version: 2 })
      expect(await activeClaims(here)).toBe(0)
    })

    test('and a heartbeat at the same moment leave the agent alive, with all its tasks or with none of them', async () => {
      for (let round = 0; round < rounds(3, 10); round++) {
        const [here, there] = await silent(3)
        await Promise.all([judge(here, 'alpha'), heartbeat(there, 'alpha'), judge(there, 'alpha')])
        const { state, health } = await seen(here, 'alpha')
        expect(state).toBe('idle')
        expect(health!.dueAt).not.toBeNull()
        expect([0, 3]).toContain(await activeClaims(here))
      }
    })

    test('a late result is still accepted when no one has claimed since', async () => {
      const [here, , [task]] = await silent(1)
      await judge(here, 'alpha')
      expect(outcome(await here.submit(task!, { ...alpha, generation: 1 }))).toBe('ACCEPTED')
    })
  })

  test('a leaving agent is terminated when its last task is done, on any node', async () => {
    const [here, there] = await nodes.pair()
    await register(here, 'alpha')
    const task = await here.create()
    const hold = granted(await here.claim(task, alpha))
    await terminate(here, 'alpha', true)
    expect(await seen(there, 'alpha')).toMatchObject({ leaving: true, state: 'idle' })
    await there.submit(task, hold)
    expect(await seen(here, 'alpha')).toMatchObject({ leaving: false, state: 'terminated' })
  })

  test('an agent that was removed leaves nothing behind, and its name is free', async () => {
    const [here, there] = await nodes.pair()
    const { uuid } = recordIn(await register(here, 'alpha', { model: 'opus' }))
    await heartbeat(here, 'alpha', { sentAt: Date.now() })
    await remove(there, 'alpha')
    expect(outcome(await heartbeat(here, 'alpha'))).toBe('NOT_FOUND')
    const again = recordIn(await register(here, 'alpha'))
    expect(again).toMatchObject({ model: null, version: 1, health: { hasHeartbeat: false, sentAt: null } })
    expect(again.uuid).not.toBe(uuid)
    expect(await seen(there, 'alpha')).toEqual(again)
  })

  test('silence is judged at the time of the judgement: no agent is declared lost early', async () => {
    const work = await nodes.work()
    await register(work, 'alpha')
    await heartbeat(work, 'alpha')
    expect(recordIn(await judge(later(work, STALE - MINUTE), 'alpha')).state).toBe('idle')
    expect(recordIn(await judge(later(work, STALE + MINUTE), 'alpha')).state).toBe('offline')
  })

  test('commands under an ended term change no agent', async () => {
    const work = await nodes.work()
    await register(work, 'alpha')
    const fenced = await work.run({
      on: 'agent',
      actor: 'system',
      term: 99,
      key: 'alpha',
      uuid: crypto.randomUUID(),
      command: { kind: 'terminate', graceful: false, reason: 'x' },
    })
    expect(outcome(fenced)).toBe('NOT_LEADER')
    expect(await seen(work, 'alpha')).toMatchObject({ state: 'idle', version: 1 })
    expect(outcome(await commandAgent(work, 'alpha', { kind: 'elapse' }))).toBe('DONE')
  })
})

describe.runIf(kinds.includes('postgres'))('on postgres alone', () => {
  const nodes = useNodes('postgres')

  test('hundreds of heartbeats, one by one, grow no table and leave no event', async () => {
    const work = await nodes.work()
    await register(work, 'alpha')
    await heartbeat(work, 'alpha')
    // Without what vacuum keeps beside a table, which appears and disappears at any time.
    const sizes = () =>
      superuser(databaseUrlOf(work.store), async (client) => {
        const { rows } = await client.query(
          `select relname, pg_relation_size(oid, 'main')::int as bytes from pg_class
            where relnamespace = 'baton'::regnamespace and relkind in ('r', 'i')`,
        )
        return new Map(rows.map(({ relname, bytes }) => [relname as string, bytes as number]))
      })
    const row = () =>
      superuser(databaseUrlOf(work.store), async (client) => {
        const text = 'select xmin::text from baton.agents where workspace_id = $1'
        return (await client.query(text, [work.workspace])).rows
      })
    const before = { sizes: await sizes(), events: (await work.events()).length, row: await row() }
    // A concurrent reader of the table may keep a few of its pages from being reused at once.
    const grown: number[] = []
    for (let round = 0; round < rounds(2, 4); round++) {
      const { agent_health: begun } = Object.fromEntries(await sizes())
      for (let i = 0; i < rounds(100, 250); i++)
        await heartbeat(work, 'alpha', { step: `step ${i}`, metadata: { text: 'x'.repeat(1_000), i } })
      grown.push((await sizes()).get('agent_health')! - begun!)
    }
    expect(Math.min(...grown), 'a round uses no more than a few pages').toBeLessThan(64 * 1024)
    for (const [name, bytes] of await sizes())
      if (name !== 'agent_health') expect(bytes, name).toBeLessThanOrEqual(before.sizes.get(name)!)
    expect(await row(), 'the wide row is left alone').toEqual(before.row)
    expect((await work.events()).length).toBe(before.events)
  })
})
