import { expect, test } from 'vitest'
import { FULL_AUTO, makeMission, showMission, tasksByTitle } from '../../support/http-missions.ts'
import type { Json } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'
import { type Fleet, useFleets } from '../../support/runs.ts'

/** Simulated agents spend no dollars: every answer with a cost says whose it is. */

const { fleet } = useFleets()

async function missionOf(w: Fleet, agent: string): Promise<Json> {
  const plan = [{ tempId: 'a', title: 'a', agent }]
  const config = { ...FULL_AUTO, budget: { maxUsd: '5' } }
  const mission = await makeMission(w, plan, { title: agent, config })
  // What a run cost is known when it is over, a moment after its result.
  return until(async () => {
    const now = await showMission(w, mission)
    return now.state === 'completed' && now.costUsd !== null && now
  })
}

/** Where the cost of a mission with one task is answered: as it is there, and whether it is simulated. */
async function costsOf(w: Fleet, mission: Json) {
  const read = async (path: string) => (await w.call('GET', path)).body
  const { a: task } = await tasksByTitle(w, mission)
  const isTasks = ({ id }: Json) => id === task!.id
  const { done } = (await read(`/board?mission=${mission.id}`)).columns
  const { nodes } = await read(`/missions/${mission.id}/graph`)
  const { ended } = await read('/overview')
  const budgets = (await read(`/budgets?scope=mission&scopeId=${mission.id}`)).items
  return Object.fromEntries(
    Object.entries({
      mission,
      ofList: (await read('/missions')).items.find(({ id }: Json) => id === mission.id),
      task: await read(`/tasks/${task!.id}`),
      card: done.items.find(isTasks),
      node: nodes.find(isTasks),
      endedTask: ended.tasks.find(isTasks),
      endedMission: ended.missions.find(({ id }: Json) => id === mission.id),
      budget: { ...budgets[0], costUsd: budgets[0].consumedUsd },
    }).map(([place, { costUsd, isSimulated }]) => [place, [costUsd, isSimulated]]),
  )
}

const everywhere = (cost: [string, boolean]) => ({
  ...{ mission: cost, ofList: cost, task: cost, card: cost, node: cost },
  ...{ endedTask: cost, endedMission: cost, budget: cost },
})

test('the cost of simulated agents says so wherever it is answered, in reports and in the log; other costs do not', async () => {
  const w = await fleet()
  const result = { result: { done: true }, summary: 'Done.' }
  await w.call('PUT', '/agents/actor', {
    adapterType: 'simulated',
    adapterConfig: { steps: [result], costUsd: '0.04' },
  })
  await w.script(
    'worker',
    `console.log(JSON.stringify({ result: 1, costUsd: '0.5', usage: { inputTokens: 5, outputTokens: 5 } }))`,
  )
  const played = await missionOf(w, 'actor')
  expect(await costsOf(w, played)).toEqual(everywhere(['0.04', true]))
  expect(played.resultSummary).toMatch(/\$0\.04 of simulated money/)
  const paid = await missionOf(w, 'worker')
  expect(await costsOf(w, paid)).toEqual(everywhere(['0.5', false]))
  expect(paid.resultSummary).not.toMatch(/simulated/)

  const ends = await w.happens('run_finished', 2)
  expect(ends.map(({ payload }) => [payload.agent, payload.isSimulated]).sort()).toEqual([
    ['actor', true],
    ['worker', undefined],
  ])
  const report = async ({ id }: Json) =>
    until(async () => (await w.call('GET', `/missions/${id}/report`)).body.markdown)
  expect(await report(played)).toMatch(/\$0\.04 of simulated money/)
  expect(await report(paid)).not.toMatch(/simulated money/)
})
