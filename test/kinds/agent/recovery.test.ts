import { beforeAll, describe, expect, test } from 'vitest'
import { fence } from '../../support/http-workspace.ts'
import { expectDoneOnce, missSoon, type Served, useProcesses } from '../../support/recovery.ts'

/** Mosaic's patterns 1 and 2, and the stall table of Automatos 3.7, with agents that are processes of their own. */

const processes = useProcesses()
let server: Served
beforeAll(async () => {
  server = await processes.serve()
})
const open = (limits?: Record<string, unknown>) => processes.workspace(server.url, limits)

/** A retry after a lost holder waits about ten seconds, a quarter more or less. */
const SHORTEST_WAIT_MS = 7_500
const LONGEST_WAIT_MS = 12_500
const MINUTES = { timeout: 90_000 }

// Most of these wait until an agent is silent for too long. They wait together, each in a workspace of its own.
describe.concurrent('an agent', () => {
  test(
    'that is killed in the middle of a task loses it to another, which continues from the checkpoint',
    MINUTES,
    async () => {
      const w = await open()
      const [task] = await w.makeMany(1)
      const first = w.agents(['first'], { holdsAt: 1 })
      expect(await first.reports('has')).toMatchObject({ generation: 1, attempt: 1, checkpointData: null })
      await first.reports('progress', { step: 1 })
      first.child.kill('SIGKILL')
      await first.ended
      await missSoon(w, 'first')

      const [lost] = await w.isRecorded('task_agent_lost')
      expect(lost).toMatchObject({ task: task!.id, generation: 1 })
      expect(lost!.payload).toMatchObject({ agent: 'first', session: 'agent:first', attempt: 1 })
      expect(lost!.payload.silentMs).toBeGreaterThanOrEqual(1_000)
      const [stale] = await w.recorded('agent_stale')
      expect(stale!.payload).toMatchObject({ agent: 'first', claims: 1 })
      expect((await w.call('GET', '/agents/first')).body).toMatchObject({ state: 'error', activeTasks: 0 })
      const waiting = await w.read(task!)
      expect(waiting).toMatchObject({ state: 'awaiting_retry', attempt: 1, checkpointData: { step: 1 } })
      const waitMs = Date.parse(waiting.dueAt) - lost!.at
      expect(waitMs).toBeGreaterThanOrEqual(SHORTEST_WAIT_MS)
      expect(waitMs).toBeLessThanOrEqual(LONGEST_WAIT_MS)

      // Not before that is over.
      expect((await w.next({ agent: 'second', session: 'too early' })).claims).toEqual([])
      await w.retriesAreDue()
      const second = w.agents(['second'])
      expect(await second.reports('has')).toMatchObject({
        taskId: task!.id,
        generation: 2,
        attempt: 2,
        checkpointData: { step: 1 },
      })
      await second.reports('done')
      await expectDoneOnce(w, [task!])
      expect((await w.results())[0]!.data).toEqual({ by: 'second', generation: 2, from: 1 })
      const [one, two] = await w.claims()
      expect(one).toMatchObject({ agent: 'first', state: 'expired', reason: 'AGENT_LOST' })
      expect(two).toMatchObject({ agent: 'second', generation: 2 })

      // After its restart it may work, but not on what it held.
      const back = w.agents(['first'])
      await back.reports('online')
      expect((await w.recorded('agent_recovered'))[0]!.payload).toMatchObject({
        agent: 'first',
        after: 'error',
      })
      const late = await w.on(task!, 'submit', { ...fence('agent:first', 1), result: 'late' })
      expect(late).toMatchObject({ status: 409, body: { code: 'STALE_GENERATION' } })
    },
  )

  test(
    'that is killed with the last attempt of a task leaves a dead letter with the reason',
    MINUTES,
    async () => {
      const w = await open()
      const [task] = await w.makeMany(1, { maxRetries: 0 })
      const agent = w.agents(['only'], { holdsAt: 1 })
      await agent.reports('progress')
      agent.child.kill('SIGKILL')
      await agent.ended
      await missSoon(w, 'only')
      await w.reaches(task!, 'failed')
      const [letter] = (await w.call('GET', '/dead-letters')).body.items
      expect(letter).toMatchObject({ id: task!.id, error: 'The agent went silent.' })
      expect((await w.claims())[0]).toMatchObject({ reason: 'AGENT_LOST' })
    },
  )

  test('that resumes its session after a quick restart still has what it held', MINUTES, async () => {
    const w = await open()
    const [task] = await w.makeMany(1)
    const life = { session: 'life of {}' }
    const before = w.agents(['phoenix'], { ...life, holdsAt: 1 })
    await before.reports('progress', { step: 1 })
    before.child.kill('SIGKILL')
    await before.ended
    const after = w.agents(['phoenix'], life)
    expect(await after.reports('has')).toMatchObject({
      generation: 1,
      attempt: 1,
      checkpointData: { step: 1 },
    })
    await after.reports('done')
    await expectDoneOnce(w, [task!])
    expect(await w.recorded('agent_stale', 'task_agent_lost')).toEqual([])
  })

  test(
    'that heartbeats and never starts loses what it was assigned, and nothing has failed',
    MINUTES,
    async () => {
      const w = await open({ assignTimeoutSeconds: 1 })
      const [task] = await w.makeMany(1)
      const sleeper = w.agents(['sleeper'], { starts: false })
      expect(await sleeper.reports('has')).toMatchObject({ taskId: task!.id, generation: 1, attempt: 1 })
      // It may finish what it has, and gets nothing more.
      expect((await w.post('/agents/sleeper/pause')).status).toBe(200)
      const worker = w.agents(['worker'])
      const [requeued] = await w.isRecorded('task_requeued')
      expect(requeued).toMatchObject({ task: task!.id, payload: { because: 'not started in time' } })
      expect(await worker.reports('has')).toMatchObject({ generation: 2, attempt: 1 })
      await worker.reports('done')
      const [claim] = await w.claims()
      expect(claim).toMatchObject({ agent: 'sleeper', state: 'expired', reason: 'NOT_STARTED' })
      expect(claim!.endedAt! - claim!.acquiredAt).toBeGreaterThanOrEqual(1_000)
      await expectDoneOnce(w, [task!])
    },
  )

  test(
    'that does not start what it was assigned is not assigned it again while another is free',
    MINUTES,
    async () => {
      const w = await open({ assignTimeoutSeconds: 1 })
      // Of two that are equally loaded the first by name is offered work first.
      const sleeper = w.agents(['a-sleeper'], { starts: false })
      const worker = w.agents(['b-worker'])
      await Promise.all([sleeper.reports('online'), worker.reports('online')])
      const [task] = await w.makeMany(1)
      await w.isRecorded('task_completed')
      // The sleeper first, and the one that was free in the end. On a busy machine that one may be silent meanwhile, and so not free.
      const agents = (await w.claims()).map(({ agent }) => agent)
      expect([agents[0], agents.at(-1)]).toEqual(['a-sleeper', 'b-worker'])
      await expectDoneOnce(w, [task!])
    },
  )

  test(
    'that is stopped in the middle of a task has stalled, and its writes after it continues are refused',
    MINUTES,
    async () => {
      const w = await open({ stallTimeoutSeconds: 1 })
      const [task] = await w.makeMany(1)
      const hung = w.agents(['hung'], { claims: true, holdsAt: 1 })
      await hung.reports('progress', { step: 1 })
      hung.child.kill('SIGSTOP')
      const [stalled] = await w.isRecorded('task_stalled')
      expect(stalled!.payload).toMatchObject({ agent: 'hung', attempt: 1 })
      expect(stalled!.payload.silentMs).toBeGreaterThanOrEqual(1_000)
      expect((await w.claims())[0]).toMatchObject({ state: 'expired', reason: 'STALLED' })
      await w.retriesAreDue()
      const other = w.agents(['other'])
      expect(await other.reports('has')).toMatchObject({
        generation: 2,
        attempt: 2,
        checkpointData: { step: 1 },
      })
      await other.reports('done')
      hung.go()
      hung.child.kill('SIGCONT')
      expect(await hung.reports('refused')).toMatchObject({ act: 'progress', code: 'STALE_GENERATION' })
      await expectDoneOnce(w, [task!])
    },
  )

  test('that was only slow may submit its work until another agent has the task', MINUTES, async () => {
    const w = await open({ stallTimeoutSeconds: 1 })
    const [task] = await w.makeMany(1)
    const slow = w.agents(['slow'], { claims: true, holdsAt: 2 })
    await slow.reports('progress', { step: 2 })
    slow.child.kill('SIGSTOP')
    await w.isRecorded('task_stalled')
    slow.go()
    slow.child.kill('SIGCONT')
    await slow.reports('done', { generation: 1 })
    const [completed] = await w.isRecorded('task_completed')
    expect(completed).toMatchObject({ generation: 1, payload: { agent: 'slow', late: true } })
    expect(await w.states()).toEqual({ completed: 1 })
    expect((await w.results()).filter(({ accepted }) => accepted)).toMatchObject([
      { task: task!.id, generation: 1 },
    ])
  })
})

describe.concurrent('a whole fleet', () => {
  test(
    'that is lost at once is followed by retries that are spread, and all of its work is done once',
    MINUTES,
    async () => {
      const w = await open()
      const tasks = await w.makeMany(100)
      const slugs = Array.from({ length: 20 }, (_, n) => `agent-${n}`)
      const fleet = (more: object) =>
        [0, 1, 2, 3].map((i) => w.agents(slugs.slice(i * 5, i * 5 + 5), { capacity: 5, ...more }))
      const gone = fleet({ holdsAt: 1 })
      await w.isRecorded('task_progress', 100)
      for (const { child } of gone) child.kill('SIGKILL')
      await Promise.all(gone.map(({ ended }) => ended))
      await missSoon(w, ...slugs)

      const lost = await w.isRecorded('task_agent_lost', 100)
      expect(new Set(lost.map(({ task }) => task)).size).toBe(100)
      expect(await w.recorded('agent_stale')).toHaveLength(20)
      // By the events: on a busy machine the first retries are due before the last task is lost.
      const waits = lost.map(({ payload, at }) => Number(payload.retryAt) - at)
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(SHORTEST_WAIT_MS)
      expect(Math.max(...waits)).toBeLessThanOrEqual(LONGEST_WAIT_MS)
      // Ten shares of half a second would hold ten each; all at once, one would hold them all.
      const shares = new Map<number, number>()
      for (const ms of waits) {
        const share = Math.floor((ms - SHORTEST_WAIT_MS) / 500)
        shares.set(share, (shares.get(share) ?? 0) + 1)
      }
      expect(Math.max(...shares.values())).toBeLessThanOrEqual(30)
      expect(shares.size).toBeGreaterThanOrEqual(8)

      await w.retriesAreDue()
      fleet({})
      await w.isRecorded('task_completed', 100)
      await expectDoneOnce(w, tasks)
      const results = await w.results()
      expect(results.every(({ generation, data }) => generation === 2 && data.from === 1)).toBe(true)
    },
  )
})
