import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Store } from '../../src/kernel/store/store.ts'
import { unblockAll } from '../../src/kinds/task/acts/unblock.ts'
import { MISSED_AMONG } from '../../src/kinds/task/postgres/dependents.ts'
import { createWorkspace } from '../../src/kinds/workspace/postgres.ts'
import { BY_KEYS } from '../../src/postgres/statements/scoped-query.ts'
import { PostgresStore } from '../../src/store/store.ts'
import { unblockMissed } from '../../src/upkeep/steps.ts'
import { freshDatabase } from '../support/database.ts'
import { complete, dependOn, flowOn, giveUp, sweep } from '../support/depend-on.ts'
import { missedTasks, skipMissedTasks } from '../support/missed-tasks.ts'
import { superuser } from '../support/nodes.ts'
import { partsOf } from '../support/parts.ts'
import { rounds } from '../support/rounds.ts'
import { granted, holder, newTask, type Task, Work } from '../support/tasks.ts'

const alpha = holder('alpha')
const database = await freshDatabase()
let store: PostgresStore
beforeAll(async () => {
  store = await PostgresStore.open(database.url)
})
afterAll(async () => {
  await store.close()
  await database.drop()
})

const newWork = async () => new Work(store, (await createWorkspace(store, 'test', 'test')).workspaceId)
const stateOf = async (work: Work, task: Task) => (await work.record(task)).state
const query = <T extends pg.QueryResultRow>(text: string, values: unknown[] = []) =>
  superuser(database.url, async (client) => {
    await client.query('set search_path = baton')
    return (await client.query<T>(text, values)).rows
  })
const cursorOf = async ({ workspace }: Work) => {
  const [row] = await query<{ seq: string }>(
    `select seq from log_cursors where workspace_id = $1 and follower = 'dependents'`,
    [workspace],
  )
  return Number(row?.seq ?? 0)
}
/** A process that knows only what is stored. */
async function another<T>(act: (store: PostgresStore) => Promise<T>): Promise<T> {
  const fresh = await PostgresStore.open(database.url)
  try {
    return await act(fresh)
  } finally {
    await fresh.close()
  }
}
const forgottenBy = async (by: Store, { workspace }: Work) =>
  (await missedTasks(by, 500, workspace)).map(({ taskId }) => taskId)
/** The log grows by so many irrelevant events. */
const longLog = ({ workspace }: Work, events: number) =>
  query(
    `with counter as (update workspace_counters set last_seq = last_seq + $2 where workspace_id = $1 returning last_seq - $2 as base)
     insert into events (workspace_id, seq, type, actor, payload, at)
     select $1, base + i, 'session_started', 'test', '{}', now() from counter, generate_series(1, $2::int) i`,
    [workspace, events],
  )

describe('a task whose dependency ended while no node could unblock it', () => {
  test('continues when another process checks', async () => {
    const work = await newWork()
    const [done, failed] = await work.createAll([newTask(), newTask()])
    const ready = await work.create({}, [done!])
    const never = await work.create({}, [failed!])
    const belowNever = await work.create({}, [never])
    await complete(work, done!)
    await giveUp(work, failed!)
    expect(await stateOf(work, ready)).toBe('pending')
    await another(sweep)
    expect(await stateOf(work, ready)).toBe('queued')
    expect([await stateOf(work, never), await stateOf(work, belowNever)]).toEqual(['skipped', 'skipped'])
  })

  test('is returned until it is marked as handled, and then no more', async () => {
    const work = await newWork()
    const done = await work.create()
    const ready = await work.create({}, [done])
    await complete(work, done)
    await another(async (fresh) => {
      for (let i = 0; i < 2; i++) expect(await forgottenBy(fresh, work)).toEqual([ready.id])
      await skipMissedTasks(fresh)
      expect(await forgottenBy(fresh, work)).toEqual([])
    })
    await another(async (fresh) => {
      const own = await forgottenBy(fresh, work)
      expect(own, 'so little is not written down, and followed once more').toEqual([ready.id])
    })
  })

  test('is not lost when unblocking it fails', async () => {
    const work = await newWork()
    const done = await work.create()
    const ready = await work.create({}, [done])
    await complete(work, done)
    let isDown = true
    const flaky = new Proxy(store, {
      get: (of, name) => {
        if (name === 'transact' && isDown) return () => Promise.reject(new Error('down'))
        const value = Reflect.get(of, name, of)
        return typeof value === 'function' ? value.bind(of) : value
      },
    })
    await expect(unblockMissed({ kernel: flowOn(flaky) })).rejects.toThrow('down')
    expect(await stateOf(work, ready)).toBe('pending')
    isDown = false
    const [{ failures, is_later: isLater }] = (await query(
      `select failures, retry_at > now() as is_later from log_cursors where workspace_id = $1 and follower = 'dependents'`,
      [work.workspace],
    )) as [pg.QueryResultRow]
    expect([failures, isLater], 'the retry waits in the row').toEqual([1, true])
    await query('update log_cursors set retry_at = now()')
    await unblockMissed({ kernel: flowOn(flaky) })
    expect(await stateOf(work, ready)).toBe('queued')
  })

  test('is unblocked even if it is changed at that moment', async () => {
    const work = await newWork()
    const done = await work.create()
    const ready = await work.create({}, [done])
    await complete(work, done)
    const tasks = await missedTasks(store, 500, work.workspace)
    await work.update(ready, { title: 'another' })
    await unblockAll(flowOn(store), tasks)
    expect(await stateOf(work, ready)).toBe('queued')
  })

  test('is found when it is resumed after a pause, when it is reopened, and when its dependency is', async () => {
    const work = await newWork()
    const [first, second] = await work.createAll([newTask(), newTask()])
    const paused = await work.create({}, [first!])
    await work.pause(paused)
    const both = await work.create({}, [first!, second!])
    const whole = await work.create()
    const [part] = await work.createAll(partsOf(whole, 1))
    for (const task of [first!, part!]) await complete(work, task)
    await giveUp(work, second!)
    await work.retry(second!)
    await work.cancel(whole)
    await another(sweep)
    await sweep(store)
    expect(await stateOf(work, both), 'retried in time').toBe('pending')
    expect(await work.record(paused)).toMatchObject({ state: 'paused' })
    await work.resume(paused)
    await work.reset(whole)
    await sweep(store)
    expect(await stateOf(work, paused)).toBe('queued')
    expect(await stateOf(work, whole)).toBe('completed')
    await work.reset(first!)
    await complete(work, second!)
    await sweep(store)
    expect(await stateOf(work, both), 'it waits for what was opened again').toBe('pending')
    await complete(work, first!)
    await sweep(store)
    expect(await stateOf(work, both)).toBe('queued')
  })

  test('is found when it is paused until after the end of a dependency that failed', async () => {
    const work = await newWork()
    const upstream = await work.create()
    const paused = await work.create({}, [upstream])
    await work.pause(paused)
    await giveUp(work, upstream)
    await sweep(store)
    expect(await stateOf(work, paused)).toBe('paused')
    await work.resume(paused)
    await sweep(store)
    expect(await stateOf(work, paused)).toBe('skipped')
  })

  test('does not hide behind those whose rule says to wait', async () => {
    const work = await newWork()
    const [open, failed, done] = await work.createAll([newTask(), newTask(), newTask()])
    await work.createAll(
      Array.from({ length: 600 }, () => newTask({ triggerRule: 'all_done' }, [open!, failed!])),
    )
    await giveUp(work, failed!)
    const ready = await work.create({}, [done!])
    await complete(work, done!)
    const kernel = flowOn(store)
    for (let passes = 0; passes < 3; passes++) await unblockMissed({ kernel })
    expect(await stateOf(work, ready), 'after those have counted').toBe('queued')
    expect(await forgottenBy(store, work)).toEqual([])
  })

  test('is found in every workspace, and of many no more at a time than requested', async () => {
    const busy = await newWork()
    const done = await busy.create()
    const waiting = await busy.createAll(Array.from({ length: 40 }, () => newTask({}, [done])))
    await complete(busy, done)
    const others = await Promise.all(
      Array.from({ length: 30 }, async () => {
        const work = await newWork()
        const upstream = await work.create()
        const task = await work.create({}, [upstream])
        await complete(work, upstream)
        return { work, task }
      }),
    )
    const kernel = flowOn(store)
    expect(await store.missedAmong(busy.workspace, [done.id], 20)).toHaveLength(20)
    for (let passes = 0; passes < 3; passes++) await unblockMissed({ kernel })
    for (const { work, task } of others) expect(await stateOf(work, task)).toBe('queued')
    for (const task of waiting) expect(await stateOf(busy, task)).toBe('queued')
  })
})

describe('the log', () => {
  test('of a database that was never followed is followed in steps, up to its end', async () => {
    const work = await newWork()
    await longLog(work, 120_000)
    const [upstream, stays] = await work.createAll([newTask(), newTask()])
    const waiting = await work.create({}, [upstream!])
    await work.create({}, [stays!])
    await complete(work, upstream!)
    await another(async (fresh) => {
      const kernel = flowOn(fresh)
      let last = 0
      let passes = 0
      while ((await stateOf(work, waiting)) === 'pending') {
        await unblockMissed({ kernel })
        const cursor = await cursorOf(work)
        expect(cursor - last, 'a step at a time').toBeLessThanOrEqual(20_000)
        last = cursor
        passes += 1
      }
      expect(passes).toBeGreaterThan(2)
      expect(await cursorOf(work)).toBeGreaterThan(100_000)
    })
    await another(async (fresh) => {
      const own = await forgottenBy(fresh, work)
      expect(own, 'the next process continues from there').toEqual([])
      expect(await cursorOf(work)).toBeGreaterThan(100_000)
    })
  })

  test('is not read where nothing waits: the cursor is at its end, and later waiting tasks are found', async () => {
    const work = await newWork()
    const upstream = await work.create()
    await longLog(work, 60_000)
    await another(async (fresh) => {
      // Any of all workspaces that have a longer log than was followed.
      const kernel = flowOn(fresh)
      for (let passes = 0; passes < 3; passes++) await unblockMissed({ kernel })
      expect(await cursorOf(work)).toBe((await work.events(60_000)).at(-1)!.seq)
    })
    const waiting = await work.create({}, [upstream])
    await complete(work, upstream)
    expect(await forgottenBy(store, work)).toEqual([waiting.id])
  })

  test.each([
    ['never analyzed its tables', null],
    ['knows its tables', 'analyze'],
    ['has vacuumed its tables', 'vacuum analyze'],
  ])('is followed without reading other blocked tasks, by a database that %s', async (_what, analyze) => {
    const blocksRead = async (blocked: number) => {
      const work = await newWork()
      const [never, done] = await work.createAll([newTask(), newTask()])
      for (let made = 0; made < blocked; made += 5_000)
        await work.createAll(
          Array.from({ length: Math.min(5_000, blocked - made) }, () => newTask({}, [never!])),
        )
      const ready = await work.create({}, [done!])
      granted(await work.claim(done!, alpha))
      await work.submit(done!, { ...alpha, generation: 1 })
      if (analyze) await query(`${analyze} tasks, task_dependencies, events`)
      const values = [work.workspace, [done!.id], 501]
      const plan = await asUpkeep(store, `explain (analyze, buffers, format json) ${MISSED_AMONG}`, values)
      const found = await asUpkeep(store, MISSED_AMONG, values)
      expect(found.map(({ taskId }) => taskId)).toEqual([ready.id])
      const root = plan[0]!['QUERY PLAN'][0].Plan
      return root['Shared Hit Blocks'] + root['Shared Read Blocks']
    }
    const few = await blocksRead(500)
    const many = await blocksRead(rounds(10_000, 50_000))
    expect(many).toBeLessThan(few * 3)
  })
})

// biome-ignore lint/suspicious/noExplicitAny: the plan is read as it comes
async function asUpkeep({ readers }: PostgresStore, text: string, values: unknown[]): Promise<any[]> {
  const client = await readers.connect()
  try {
    await client.query('begin')
    await client.query(`select set_config('baton.scope', 'upkeep', true)`)
    await client.query(BY_KEYS.text)
    const { rows } = await client.query(text, values)
    await client.query('commit')
    return rows
  } finally {
    client.release()
  }
}

describe('a cycle that was written by hand', () => {
  test('fails as a whole, its downstream tasks are skipped, and tasks beside it are not touched', async () => {
    const work = await newWork()
    const [a, b, c, beside] = await work.createAll(Array.from({ length: 4 }, () => newTask()))
    const below = await work.create({}, [b!])
    const further = await work.create({}, [below])
    const waitsBeside = await work.create({}, [beside!])
    for (const [task, on] of [
      [a!, b!],
      [b!, c!],
      [c!, a!],
    ] as const)
      await query(
        `insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule) values ($1, $2, $3, 'all_success')`,
        [work.workspace, task.id, on.id],
      )
    await query(
      `update tasks set state = 'pending', rank = null, blocked = true, due_at = case when id = $2 then now() end
        where workspace_id = $1 and id = any($3)`,
      [work.workspace, a!.id, [a!.id, b!.id, c!.id]],
    )
    await another(sweep)
    const uuids = [a!, b!, c!].map(({ uuid }) => uuid)
    for (const task of [a!, b!, c!]) {
      expect(await work.record(task)).toMatchObject({ state: 'failed', blocked: false, dueAt: null })
      const { error } = await work.details(task)
      for (const uuid of uuids) expect(error).toContain(uuid)
    }
    expect([await stateOf(work, below), await stateOf(work, further)]).toEqual(['skipped', 'skipped'])
    expect(await work.record(beside!)).toEqual({ ...beside, awaited: true })
    expect(await work.record(waitsBeside)).toEqual(waitsBeside)
    const found = (await work.events()).filter(({ type }) => type === 'dependency_cycle_found')
    expect(found.map(({ payload }) => payload)).toEqual([{ cycle: uuids }])
  })

  test('of thousands of tasks is found as one', async () => {
    const work = await newWork()
    const count = rounds(2_000, 10_000)
    const tasks: Task[] = []
    for (let made = 0; made < count; made += 2_000)
      tasks.push(...(await work.createAll(Array.from({ length: 2_000 }, () => newTask()))))
    await query(
      `insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule)
       select $1, id, on_id, 'all_success' from unnest($2::bigint[], $3::bigint[]) as e(id, on_id)`,
      [work.workspace, tasks.map(({ id }) => id), tasks.map((_, i) => tasks[(i + 1) % count]!.id)],
    )
    await query(
      `update tasks set state = 'pending', rank = null, blocked = true, due_at = case when id = $2 then now() end where workspace_id = $1`,
      [work.workspace, tasks[0]!.id],
    )
    await sweep(store)
    const states = await query(`select state, count(*)::int from tasks where workspace_id = $1 group by 1`, [
      work.workspace,
    ])
    expect(states).toEqual([{ state: 'failed', count }])
    expect((await work.details(tasks[0]!)).error!.length).toBeLessThan(2_000)
  })
})

test('a task that gets dependencies is due once, however long its upstream', async () => {
  const work = await newWork()
  const upstream = await work.create()
  const task = await work.create()
  await dependOn(work, task, [upstream])
  const due = async () => (await store.dueTasks(500)).filter(({ taskId }) => taskId === task.id)
  expect(await due()).toMatchObject([{ isBlocked: true, version: task.version + 1 }])
  await sweep(store)
  expect(await due()).toEqual([])
})
