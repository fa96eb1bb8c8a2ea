import { describe, expect, test } from 'vitest'
import { EVENTS, eventTypes } from '../../src/kinds/catalogue.ts'
import { MissionView } from '../../src/kinds/mission/shapes/missions.ts'
import { MISSION_STATES, missionStates } from '../../src/kinds/mission/states.ts'
import { PURPOSES, TaskDraft, type TaskRecord } from '../../src/kinds/task/record.ts'
import { DependencyView, TaskInGraph } from '../../src/kinds/task/shapes/tasks.ts'
import { ACTOR_KINDS } from '../../src/pure/actors.ts'
import {
  TASK_STATES,
  TASK_TRANSITIONS,
  type TaskState,
  TRIGGER_RULES,
  type TransitionName,
  taskStates,
} from '../../src/pure/states.ts'
import { EventView } from '../../src/views/events/shapes.ts'
import {
  actOn,
  claimOne,
  failForGood,
  makeMission,
  showMission,
  submit,
  take,
  tasksByTitle,
} from '../support/http-missions.ts'
import {
  expectRefusal,
  fence,
  inState,
  type Json,
  type ReachableState,
  useServer,
  type Workspace,
} from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'

/** Automatos 10.2 to 10.4, under the names of DESIGN: shapes, states and integration, over HTTP. */

const { workspace } = useServer()

const read = async (w: Workspace, path: string): Promise<Json> => (await w.call('GET', path)).body
const listed = async (w: Workspace, path: string): Promise<Json[]> => (await read(w, path)).items as Json[]

describe('shapes that programs import', () => {
  /** Answers may have more fields than a program knows. */
  test('AC-11: a mission is what the shape MissionView says', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    expect(MissionView.parse(await showMission(w, mission))).toMatchObject({
      id: mission.id,
      state: 'running',
    })
  })

  test('AC-12: a task is what the shape TaskInGraph says, with its mission, its agent and its board column', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }])
    const { taskId } = await take(w)
    const { b } = await tasksByTitle(w, mission)
    expect(TaskInGraph.parse(await read(w, `/tasks/${taskId}`))).toMatchObject({
      ...{ missionId: mission.id, lastAgent: 'alpha', holder: { agent: 'alpha' }, board: 'assigned' },
      blocks: [{ taskId: b!.id }],
    })
  })

  test('AC-13: a dependency is what the shape DependencyView says, and a task has each once', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }, { tempId: 'b', dependsOn: ['a'] }])
    const { a, b } = await tasksByTitle(w, mission)
    const dependencies = await listed(w, `/tasks/${b!.id}/dependencies`)
    expect(dependencies.map((one) => DependencyView.parse(one).taskId)).toEqual([a!.id])
    const twice = { title: 'c', dependsOn: [a!.id, { on: a!.id, kind: 'order' }] }
    expectRefusal(await w.post('/tasks', twice), 400, 'VALIDATION_FAILED')
  })

  test('AC-14: an event is what the shape EventView says, numbered upwards', async () => {
    const w = await workspace()
    await makeMission(w, [{ tempId: 'a' }])
    const seqs = (await listed(w, '/events')).map((one) => EventView.parse(one).seq)
    expect(seqs.length).toBeGreaterThan(2)
    expect(seqs).toEqual(seqs.map((_seq, i) => i + 1))
  })

  test('AC-15: missions and tasks have versions, and a change names the one it is based on', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a' }])
    const { a } = await tasksByTitle(w, mission)
    for (const [path, seen] of [
      [`/missions/${mission.id}`, await showMission(w, mission)],
      [`/tasks/${a!.id}`, a!],
    ] as const) {
      const change = (version: unknown) =>
        w.call('PATCH', path, { title: 'Another title' }, { 'if-match': `"${version}"` })
      expect((await change(seen.version)).body.version).toBe((seen.version as number) + 1)
      expectRefusal(await change(seen.version), 412, 'VERSION_MISMATCH', {
        currentVersion: (seen.version as number) + 1,
      })
    }
  })

  test('AC-16: states, events, actors, purposes, types of tasks and trigger rules are lists in the code', async () => {
    const types = new Set(
      [...taskStates, ...missionStates].map((state) => ({ ...MISSION_STATES, ...TASK_STATES })[state].type),
    )
    expect([...types].sort()).toEqual(['paused', 'pending', 'running', 'terminal'])
    expect(missionStates).toHaveLength(9)
    expect(taskStates).toHaveLength(14)
    expect(TRIGGER_RULES).toEqual(
      expect.arrayContaining(['all_success', 'all_done', 'none_failed', 'always']),
    )
    expect(PURPOSES).toContain('verification')
    expect(ACTOR_KINDS).toEqual(expect.arrayContaining(['system', 'coordinator', 'agent', 'key']))
    for (const type of eventTypes) expect(EVENTS[type].parse, type).toBeTypeOf('function')
    // Any word is a type of task; those of the document are among them.
    const w = await workspace()
    const DOCUMENT = 'research analysis writing coding verification review synthesis other'.split(' ')
    const tasks = DOCUMENT.map((taskType) => ({ title: taskType, taskType }))
    const { body } = await w.post('/tasks/batch', { tasks })
    expect(body.items.map(({ taskType }: Json) => taskType)).toEqual(DOCUMENT)
  })
})

/** Acts over HTTP, and the change that each stands for. */
const ACTS: Record<string, TransitionName> = {
  cancel: 'task_cancelled',
  pause: 'task_paused',
  resume: 'task_unpaused',
  retry: 'task_retried',
  reset: 'task_reset',
  approve: 'task_human_approved',
  reject: 'task_human_rejected',
}

describe('states', () => {
  test('AC-17: a change of a task that is not in the table is refused, and nothing changes', async () => {
    for (const name of Object.keys(TASK_TRANSITIONS) as TransitionName[])
      for (const state of taskStates) {
        if ((TASK_TRANSITIONS[name].from as readonly TaskState[]).includes(state)) continue
        const draft = new TaskDraft({ state } as TaskRecord, 0)
        expect(() => draft.move(name, 'system')).toThrow(`${name} is not possible from ${state}`)
      }
    const w = await workspace()
    for (const [state, make] of Object.entries(inState) as [ReachableState, (typeof inState)['queued']][]) {
      const task = await make(w)
      const { version } = await w.read(task)
      for (const [act, name] of Object.entries(ACTS)) {
        const { from, to }: { from: readonly TaskState[]; to: TaskState } = TASK_TRANSITIONS[name]
        if (from.includes(state)) continue
        const answer = await w.on(task, act)
        // What is done already is done: a repeated request is answered, and changes nothing.
        if (to === state && answer.status === 200) continue
        expectRefusal(answer, 409, 'WRONG_STATE')
        expect(await w.read(task), `${act} of a ${state} task`).toMatchObject({ state, version })
      }
    }
  })

  test('AC-18: a change of a mission that is not in the table is refused, and nothing changes', async () => {
    const w = await workspace()
    const one = [{ tempId: 'a' }]
    const acted = async (act: string, config?: Json) => {
      const mission = await makeMission(w, one, config && { config })
      expect((await actOn(w, mission, act)).status).toBe(200)
      return mission
    }
    const worked = await makeMission(w, one)
    await submit(w, await take(w))
    const stopped = await acted('cancel')
    await until(async () => (await showMission(w, stopped)).state === 'cancelled')
    const refusals: [Json, string, string[]][] = [
      [await makeMission(w, one, { config: {} }), 'awaiting_approval', ['resume', 'retry']],
      [await makeMission(w, one), 'running', ['approve', 'reject', 'resume', 'retry']],
      [await acted('pause'), 'paused', ['approve', 'reject', 'retry']],
      [worked, 'completed', ['approve', 'reject', 'pause', 'resume', 'cancel', 'retry']],
      [await acted('reject', {}), 'failed', ['approve', 'reject', 'pause', 'resume', 'cancel']],
      [stopped, 'cancelled', ['approve', 'reject', 'pause', 'resume']],
    ]
    for (const [mission, state, acts] of refusals) {
      const { version } = await showMission(w, mission)
      for (const act of acts) {
        expectRefusal(await actOn(w, mission, act), 409, 'WRONG_STATE')
        expect(await showMission(w, mission), `${act} of a ${state} mission`).toMatchObject({
          state,
          version,
        })
      }
    }
  })

  test('AC-19: the log leads to the state at every moment, for a mission and for its tasks', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a', verification: { kind: 'human' } }])
    const { a } = await tasksByTitle(w, mission)
    /** State and log as of one moment: the graph says up to which event. */
    const compare = async () => {
      const { nodes, seq } = (await read(w, `/missions/${mission.id}/graph`)) as {
        nodes: Json[]
        seq: number
      }
      const events = (await listed(w, `/missions/${mission.id}/events?limit=200`)).filter(
        (event) => (event.seq as number) <= seq && event.to !== null,
      )
      const ofTask = events.filter(({ taskId }) => taskId === a!.id)
      expect(ofTask.at(-1)!.to).toBe(nodes[0]!.state)
      for (const [i, { from }] of ofTask.entries()) expect(from).toBe(ofTask[i - 1]?.to ?? null)
      const ofMission = events.filter(({ taskId }) => taskId === null)
      expect(ofMission.at(-1)!.to).toBe((await showMission(w, mission)).state)
      return ofTask.at(-1)!.type
    }
    expect(await compare()).toBe('task_created')
    const held = await take(w)
    expect(await compare()).toBe('task_assigned')
    await w.on(a as { id: string }, 'start', fence('s-alpha', held.generation))
    expect(await compare()).toBe('task_started')
    await submit(w, held)
    expect(await compare()).toBe('task_human_review_requested')
    await w.on(a as { id: string }, 'approve')
    expect(await compare()).toBe('task_human_approved')
    expect((await showMission(w, mission)).state).toBe('completed')
  })

  test('AC-20: every end has its time, and how long it took since its start', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [
      { tempId: 'done' },
      { tempId: 'fails', optional: true },
      { tempId: 'below', dependsOn: ['fails'] },
      { tempId: 'stopped' },
    ])
    const tasks = await tasksByTitle(w, mission)
    for (const title of ['done', 'fails', 'stopped']) {
      expect(await read(w, `/tasks/${tasks[title]!.id}`)).toMatchObject({
        completedAt: null,
        durationMs: null,
      })
      const held = await claimOne(w, tasks[title]!)
      await w.post(`/tasks/${tasks[title]!.id}/start`, fence('s-alpha', held.generation))
      if (title === 'done') await submit(w, held)
      if (title === 'fails') await failForGood(w, held)
      if (title === 'stopped') await w.post(`/tasks/${tasks[title]!.id}/cancel`)
    }
    const ended = await until(async () => {
      const seen = await showMission(w, mission)
      return seen.state === 'completed' && seen
    })
    const took = ({ startedAt, completedAt }: Json) =>
      Date.parse(completedAt as string) - Date.parse(startedAt as string)
    expect(ended.durationMs).toBe(took(ended))
    for (const [title, state] of [
      ['done', 'completed'],
      ['fails', 'failed'],
      ['stopped', 'cancelled'],
    ] as const) {
      const seen = await read(w, `/tasks/${tasks[title]!.id}`)
      expect(seen).toMatchObject({ state, durationMs: took(seen) })
    }
    // It was never started: it has an end, and took no time.
    expect(await read(w, `/tasks/${tasks.below!.id}`)).toMatchObject({
      ...{ state: 'skipped', completedAt: expect.any(String), durationMs: null },
    })
  })

  test('AC-21: of two changes at once that are based on the same version one is refused with what it is now', async () => {
    const w = await workspace()
    const task = await w.make()
    const change = (title: string) =>
      w.call('PATCH', `/tasks/${task.id}`, { title }, { 'if-match': `"${task.version}"` })
    const answers = await Promise.all([change('one'), change('other')])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
    const [done, refused] = answers.toSorted((one, other) => one.status - other.status)
    expectRefusal(refused!, 412, 'VERSION_MISMATCH', { currentVersion: done!.body.version })
    expect((await w.read(task)).title).toBe(done!.body.title)
  })

  test('AC-22: the board column of a task follows its state, as in 3.8', async () => {
    const w = await workspace()
    const columns: Record<ReachableState, string> = {
      ...{ pending: 'inbox', queued: 'inbox', awaiting_retry: 'assigned', assigned: 'assigned' },
      ...{ running: 'in_progress', continuing: 'in_progress', awaiting_human: 'review' },
      ...{ completed: 'done', failed: 'done', cancelled: 'done', skipped: 'done' },
      // The document has no columns for these.
      ...{ paused: 'inbox', budget_exceeded: 'review' },
    }
    for (const [state, board] of Object.entries(columns)) {
      const task = await inState[state as ReachableState](w)
      expect(await w.read(task), state).toMatchObject({ state, board })
    }
    await w.post('/claims/next', { agent: 'judge', session: 's-judge', purposes: ['verification'] })
    const judged = await w.held({ verification: { kind: 'agent', agent: 'judge' } })
    await w.on(judged, 'submit', { ...fence('s-alpha', 1), result: 1 })
    expect(await w.read(judged)).toMatchObject({ state: 'verifying', board: 'review' })
  })
})
