import { expect, test } from 'vitest'
import { fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { superuser, until } from '../../support/nodes.ts'

/** What the log tells about a mission, its tasks and their runs. */

const { served, workspace } = useServer()

const launch = async (w: Workspace, tasks: Json[], config: Json = {}): Promise<Json> => {
  const body = { goal: 'Go', plan: { tasks }, config: { autonomy: 'full_auto', ...config } }
  const answer = await w.post('/missions', body)
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}
const eventsOf = async (w: Workspace, { id }: Json, query = ''): Promise<Json[]> =>
  (await w.call('GET', `/missions/${id}/events?limit=200${query}`)).body.items

test('the log of a mission has its runs, what they used, and what all of them cost so far', async () => {
  const w = await workspace()
  const steps = [
    { usage: { inputTokens: 80, outputTokens: 30 } },
    { result: { done: true }, summary: 'Done.' },
  ]
  const agent = {
    adapterType: 'simulated',
    adapterConfig: { steps },
    runtimeConfig: {},
    maxConcurrentTasks: 1,
  }
  expect(await w.call('PUT', '/agents/sim', agent)).toMatchObject({ status: 201 })
  const tasks = [
    { tempId: 'a', title: 'First', agent: 'sim' },
    { tempId: 'b', title: 'Second', agent: 'nobody', dependsOn: ['a'], triggerRule: 'all_done' },
  ]
  const mission = await launch(w, tasks, { budget: { maxTokens: 1_000 } })
  const log = await until(async () => {
    const found = await eventsOf(w, mission)
    const isThere = (wanted: string) => found.some(({ type }) => type === wanted)
    return ['cost_snapshot', 'run_finished', 'task_completed', 'task_queued'].every(isThere) && found
  })
  const first = (type: string) => log.find((event) => event.type === type) as Json
  const finished = first('run_finished')
  expect(finished).toMatchObject({ entityType: 'run', missionId: mission.id, payload: { model: null } })
  const { runId } = finished
  expect(first('run_started')).toMatchObject({ entityType: 'run', runId, missionId: mission.id })
  const completed = first('task_completed')
  expect(completed).toMatchObject({
    runId,
    payload: { runId, tokens: 110, model: null, costUsd: null },
  })
  expect(first('task_queued')).toMatchObject({ payload: { unblockedBy: completed.taskId } })
  const waiting = log.find(({ type, to }) => type === 'task_created' && to === 'pending')
  expect(waiting).toMatchObject({ payload: { triggerRule: 'all_done', dependsOn: [completed.taskId] } })
  expect(first('cost_snapshot')).toMatchObject({
    entityType: 'mission',
    entityId: mission.id,
    payload: {
      totalTokens: 110,
      totalCost: null,
      percentUsed: 11,
      budget: { maxTokens: 1_000 },
      byTask: [{ taskId: completed.taskId, tokens: 110, costUsd: null }],
    },
  })
})

test('a mission that its last task did not end is reported as stalled before it is ended', async () => {
  const w = await workspace()
  const mission = await launch(w, [{ tempId: 'a', title: 'Only' }])
  const [claim] = (await w.next({ waitMs: 5_000 })).claims
  await w.post(`/tasks/${claim.taskId}/submit`, { ...fence('s-alpha', 1), result: 1 })
  // As if a node had ended its last task and died before it ended the mission.
  await superuser(served().databaseUrl, (client) =>
    client.query(
      `update baton.missions set phase = 'running', state = 'running', open_for = 'all', completed_at = null
        where uuid = $1`,
      [mission.id],
    ),
  )
  await w.post('/coordinator/recover')
  const log = await until(async () => {
    const found = await eventsOf(w, mission, '&type=stall_detected,mission_completed')
    return found.length >= 3 && found
  })
  expect(log).toMatchObject([
    { type: 'mission_completed' },
    {
      type: 'stall_detected',
      entityType: 'mission',
      payload: { entityType: 'mission', entityId: mission.id, stalledState: 'running', action: 'settle' },
    },
    { type: 'mission_completed' },
  ])
})

test('the log of a mission is read backwards, without a gap or an event twice, also a part of it', async () => {
  const w = await workspace()
  const tasks = Array.from({ length: 7 }, (_, n) => ({ tempId: `t${n}`, title: `Task ${n}` }))
  const mission = await launch(w, tasks)
  const page = async (after: string | null, more = '') =>
    (
      await w.call(
        'GET',
        `/missions/${mission.id}/events?order=desc&limit=3${after ? `&after=${after}` : ''}${more}`,
      )
    ).body
  for (const more of ['', '&type=task_created']) {
    const read: Json[] = []
    for (let after: string | null = null; ; ) {
      const { items, nextCursor } = await page(after, more)
      read.unshift(...items.toReversed())
      after = nextCursor
      if (after === null) break
    }
    expect(read).toEqual(await eventsOf(w, mission, more))
  }
  expect((await page('1')).items).toEqual([])
})
