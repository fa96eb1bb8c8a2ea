import { describe, expect, test } from 'vitest'
import { TaskDraft, type TaskRecord } from '../../src/kinds/task/record.ts'
import { TASK_TRANSITIONS, type TaskState, type TransitionName, taskStates } from '../../src/pure/states.ts'
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

/**
 * Automatos 10.1 to 10.3, under the names of DESIGN: what no other test shows. docs/internal/documents.md says where its other
 * criteria are shown.
 */

const { workspace } = useServer()

const read = async (w: Workspace, path: string): Promise<Json> => (await w.call('GET', path)).body

/** The field of an answer, also of what is inside it. */
const at = (answer: Json, path: string) =>
  path.split('.').reduce<unknown>((inside, name) => (inside as Json | undefined)?.[name], answer)

/** A mission of two tasks that was worked off. */
async function ended(w: Workspace): Promise<{ mission: Json; first: Json; second: Json }> {
  const made = await makeMission(
    w,
    [
      {
        tempId: 'a',
        taskType: 'research',
        description: 'Look it up.',
        model: 'haiku',
        successCriteria: 'Found.',
      },
      { tempId: 'b', dependsOn: ['a'], verification: { kind: 'auto' }, toolsRequested: ['bash'] },
    ],
    { description: 'More about it', planner: { agent: 'planner' } },
  )
  for (const _task of ['a', 'b']) {
    const held = await take(w)
    await w.post(`/tasks/${held.taskId}/start`, fence('s-alpha', held.generation))
    const result = { ...fence('s-alpha', held.generation), result: 'done', summary: 'It is done.' }
    expect((await w.post(`/tasks/${held.taskId}/submit`, result)).status).toBe(200)
  }
  const mission = await until(async () => {
    const seen = await showMission(w, made)
    return seen.state === 'completed' && seen
  })
  const { a, b } = await tasksByTitle(w, mission)
  return { mission, first: await read(w, `/tasks/${a!.id}`), second: await read(w, `/tasks/${b!.id}`) }
}

describe('what is stored', () => {
  test('AC-1: every column of 4.2 has a home in what is shown of a mission', async () => {
    const w = await workspace()
    const { mission } = await ended(w)
    const homes = {
      ...{ id: 'id', title: 'title', description: 'description', goal: 'goal', state: 'state' },
      ...{ state_type: 'stateType', config: 'config', result_summary: 'resultSummary' },
      ...{ created_by: 'createdBy', coordinator_agent_id: 'config.planner.agent' },
      ...{ total_tokens: 'tokensUsed', total_cost: 'costUsd', task_count: 'taskCount' },
      ...{ tasks_completed: 'tasksCompleted', tasks_failed: 'tasksFailed', started_at: 'startedAt' },
      ...{ completed_at: 'completedAt', duration_ms: 'durationMs', version_id: 'version' },
      ...{ created_at: 'createdAt', updated_at: 'updatedAt', plan: 'planVersion' },
    }
    for (const [column, field] of Object.entries(homes))
      expect(at(mission, field), column).not.toBeOneOf([null, undefined])
    expect(mission).toMatchObject({ errorMessage: null, strategy: null, tasksCompleted: 2 })
    expect(mission.resultSummary).toBe('2 of 2 tasks completed; 0 tokens, $0.')
    expect((await read(w, `/missions/${mission.id}/plan`)).plan).toMatchObject({ tasks: [{}, {}] })
    // The workspace is that of the key.
    expect((await (await workspace()).call('GET', `/missions/${mission.id}`)).status).toBe(404)
    const failed = await makeMission(w, [{ tempId: 'a' }], { config: {} })
    const rejected = await actOn(w, failed, 'reject', { comment: 'Too vague' })
    expect(rejected.body).toMatchObject({
      state: 'failed',
      errorMessage: expect.stringContaining('Too vague'),
    })
  })

  test('AC-2: every column of 5.2 has a home in what is shown of a task', async () => {
    const w = await workspace()
    const { mission, first, second } = await ended(w)
    const homes = {
      ...{ id: 'id', run_id: 'missionId', sequence_number: 'sequenceNumber', title: 'title' },
      ...{ description: 'description', task_type: 'taskType', state: 'state', state_type: 'stateType' },
      ...{
        agent_id: 'lastAgent',
        agent_type: 'agentType',
        model_override: 'model',
        tools_requested: 'toolsRequested',
      },
      ...{ success_criteria: 'successCriteria', output_summary: 'summary', output_ref: 'workProductRef' },
      ...{ attempt_number: 'attempt', continuation_count: 'continuations', tokens_used: 'tokensUsed' },
      ...{
        started_at: 'startedAt',
        completed_at: 'completedAt',
        duration_ms: 'durationMs',
        board_task_id: 'board',
      },
      ...{ version_id: 'version', created_at: 'createdAt', updated_at: 'updatedAt' },
    }
    for (const [column, field] of Object.entries(homes))
      expect(at(first, field), column).not.toBeOneOf([null, undefined])
    expect(first).toMatchObject({
      missionId: mission.id,
      sequenceNumber: 1,
      lastAgent: 'alpha',
      summary: 'It is done.',
    })
    expect(second).toMatchObject({
      ...{ sequenceNumber: 2, triggerRule: 'all_success', verifierScore: 1, verifiedBy: 'baton' },
      ...{ toolsRequested: ['bash'], costUsd: null, error: null, attempt: 1, continuations: 0 },
    })
  })

  test('AC-4: events are numbered without a gap, and every column of 6.3 has a home', async () => {
    const w = await workspace()
    const { mission } = await ended(w)
    const { items } = (await w.call('GET', '/events?limit=200')).body as { items: Json[] }
    expect(items.map(({ seq }) => seq)).toEqual(items.map((_event, i) => i + 1))
    const started = items.find(({ type }) => type === 'task_started')!
    expect(started).toMatchObject({
      ...{ missionId: mission.id, taskId: expect.any(String), payload: { agent: 'alpha', attempt: 1 } },
      ...{ by: { kind: 'agent', id: 'alpha', name: 'alpha' }, at: expect.any(String) },
    })
    const approved = items.find(({ type }) => type === 'mission_completed')!
    expect(approved).toMatchObject({ missionId: mission.id, taskId: null, entityType: 'mission' })
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
})
