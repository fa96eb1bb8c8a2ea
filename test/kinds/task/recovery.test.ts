import pg from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  eventually,
  expectDoneOnce,
  type RecoveringWorkspace,
  type Served,
  useProcesses,
} from '../../support/recovery.ts'
import { callsTo } from '../../support/server.ts'

/** Mosaic's patterns 3 and 6: tasks that wait for each other, and tasks that never end. */

const MINUTES = { timeout: 90_000 }
const processes = useProcesses()
let nodes: Served[]
beforeAll(async () => {
  nodes = [await processes.serve(), await processes.serve()]
})
const open = (limits?: Record<string, unknown>) => processes.workspace(nodes[0]!.url, limits)

/** These requests at the same moment: none of them can be finished before all of them have begun. */
async function atOnce<T>(tasks: readonly { id: string }[], acts: (() => Promise<T>)[]): Promise<T[]> {
  const client = new pg.Client({ connectionString: processes.databaseUrl(), options: '-c search_path=baton' })
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('begin')
    const { rows } = await client.query(
      'select pg_backend_pid() as pid from tasks where uuid = any($1::uuid[]) for update',
      [tasks.map(({ id }) => id)],
    )
    const answers = Promise.all(acts.map((act) => act()))
    await eventually(async () => {
      const waiting = `with recursive w as (
          select pid from pg_stat_activity where $1::int = any(pg_blocking_pids(pid))
          union select a.pid from pg_stat_activity a join w on w.pid = any(pg_blocking_pids(a.pid))) select from w`
      return (await processes.rows(waiting, [rows[0].pid])).length >= acts.length
    })
    await client.query('commit')
    return await answers
  } finally {
    await client.end()
  }
}

const waitsFor =
  (w: RecoveringWorkspace, node: Served, task: { id: string }, upstream: { id: string }) => () =>
    callsTo(`${node.url}/api/v1`, w.ownerKey)('POST', `/tasks/${task.id}/dependencies`, {
      dependsOn: [upstream.id],
    })

describe.concurrent('a cycle of tasks', () => {
  test(
    'that two servers close at the same moment fails as a whole, with its path, and work continues',
    MINUTES,
    async () => {
      const w = await open()
      const [a, b] = [await w.make({ title: 'A' }), await w.make({ title: 'B' })]
      const below = await w.make({ title: 'waits for B', dependsOn: [b.id] })
      const aside = await w.make({ title: 'has nothing to do with it' })
      const answers = await atOnce([a, b], [waitsFor(w, nodes[0]!, a, b), waitsFor(w, nodes[1]!, b, a)])
      expect(answers.map(({ status }) => status)).toEqual([200, 200])

      const [found] = await w.isRecorded('dependency_cycle_found')
      expect([...found!.payload.cycle].sort()).toEqual([a.id, b.id].sort())
      for (const task of [a, b]) {
        await w.reaches(task, 'failed')
        const { error, failureClass } = await w.read(task)
        expect(failureClass).toBe('dependency')
        expect(error).toContain(a.id)
        expect(error).toContain(b.id)
      }
      const failed = await w.recorded('task_failed')
      expect(failed.map(({ task, payload }) => [task, payload.reason]).sort()).toEqual(
        [a, b].map(({ id }) => [id, 'dependency_cycle']).sort(),
      )
      await w.reaches(below, 'skipped')
      expect(await w.recorded('dependency_cycle_found')).toHaveLength(1)
      const agent = w.agents(['agent'])
      await agent.reports('done', { taskId: aside.id })
    },
  )

  test('that is visible is refused with its path, on any server', MINUTES, async () => {
    const w = await open()
    const [a, b, c] = [await w.make(), await w.make(), await w.make()]
    expect((await waitsFor(w, nodes[0]!, a, b)()).status).toBe(200)
    expect((await waitsFor(w, nodes[1]!, b, c)()).status).toBe(200)
    const { status, body } = await waitsFor(w, nodes[0]!, c, a)()
    expect([status, body.code]).toEqual([409, 'DEPENDENCY_CYCLE'])
    expect([...body.cycle].sort()).toEqual([a.id, b.id, c.id].sort())
    const agent = w.agents(['agent'])
    await agent.reports('done', { taskId: a.id })
    expect((await w.recorded('task_completed')).map(({ task }) => task)).toEqual([c.id, b.id, a.id])
  })
})

/** Leases of two seconds: heartbeats renew them, so their answers can carry a request soon. */
const SHORT = { minLeaseSeconds: 1, maxLeaseSeconds: 2, assignTimeoutSeconds: 2 }
/** Should take 0.6 s, and is suspected at once when it takes longer. */
const URGENT = { estimatedDurationMinutes: 0.01, priority: 5 }

describe.concurrent('a task that hangs', () => {
  test('is asked for progress, then revoked from its live holder and retried sooner', MINUTES, async () => {
    const w = await open({ ...SHORT, hangGraceSeconds: 0, hangAbortSeconds: 3 })
    const [task] = await w.makeMany(1, { ...URGENT, agent: 'hung' })
    const hung = w.agents(['hung'], { holdsAt: 1, staleSeconds: 60 })
    await hung.reports('progress', { step: 1 })
    const [suspected] = await w.isRecorded('task_hang_suspected')
    expect(suspected).toMatchObject({ task: task!.id, generation: 1, payload: { agent: 'hung' } })
    await hung.reports('requests', { taskId: task!.id })
    expect((await w.read(task!)).state).toBe('running')

    const [taken] = await w.isRecorded('task_hung')
    expect(taken).toMatchObject({ task: task!.id, payload: { agent: 'hung', attempt: 1, priority: 6 } })
    expect(taken!.payload.withoutProgressMs).toBeGreaterThanOrEqual(3_000)
    expect(taken!.at - suspected!.at).toBeGreaterThanOrEqual(3_000)
    expect((await w.claims())[0]).toMatchObject({ state: 'expired', reason: 'HUNG' })
    expect(await w.read(task!)).toMatchObject({ state: 'awaiting_retry', priority: 6, attempt: 1 })
    // Alive all the time: it was never declared lost.
    expect(await w.recorded('agent_stale', 'task_agent_lost', 'task_lease_expired')).toEqual([])

    // Another agent may do it, and continues from its checkpoint.
    await w.call('PATCH', `/tasks/${task!.id}`, { agent: null })
    await w.post('/agents/hung/pause')
    await w.retriesAreDue()
    const other = w.agents(['other'])
    expect(await other.reports('has')).toMatchObject({
      generation: 2,
      attempt: 2,
      checkpointData: { step: 1 },
    })
    await other.reports('done')
    hung.go()
    expect(await hung.reports('refused')).toMatchObject({ generation: 1, code: 'STALE_GENERATION' })
    await expectDoneOnce(w, [task!])
  })

  test('only for a while is left alone when its holder answers with progress', MINUTES, async () => {
    const w = await open({ ...SHORT, hangGraceSeconds: 0, hangAbortSeconds: 30 })
    const [task] = await w.makeMany(1, URGENT)
    const slow = w.agents(['slow'], { holdsAt: 1, staleSeconds: 60 })
    await slow.reports('requests', { taskId: task!.id })
    slow.go()
    await slow.reports('done', { generation: 1 })
    await expectDoneOnce(w, [task!])
    expect(await w.recorded('task_hung')).toEqual([])
    expect(await w.recorded('task_hang_suspected')).toHaveLength(1)
  })
})
