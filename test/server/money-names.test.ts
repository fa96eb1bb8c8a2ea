import { describe, expect, test } from 'vitest'
import { makeMission, showMission, tasksByTitle } from '../support/http-missions.ts'
import { run, saved, show } from '../support/http-routines.ts'
import { expectRefusal, type Json, useServer, type Workspace } from '../support/http-workspace.ts'
import { superuser } from '../support/nodes.ts'

/** Budgets were called {limitUsd, limitTokens} once. They are read under both names, and answered and written under the new ones. */

const { workspace, served } = useServer()
const OLD = { limitUsd: '2.50', limitTokens: 9_000 }
const NEW = { maxUsd: '2.50', maxTokens: 9_000 }
/** Plans have exact decimals. */
const PLANNED = { maxUsd: '2.5', maxTokens: 9_000 }
const planOf = async (w: Workspace, { id }: Json) => (await w.call('GET', `/missions/${id}/plan`)).body.plan

describe('old names of budgets are still read', () => {
  test('in requests about tasks', async () => {
    const w = await workspace()
    const task = await w.make({ budget: OLD })
    expect(task).toMatchObject({ plan: { budget: NEW } })
    expect((await w.read(task)).budget).toEqual(NEW)
    const batch = await w.post('/tasks/batch', { tasks: [{ title: 'a', budget: { limitTokens: 5 } }] })
    expect(batch.body.items[0].plan.budget).toEqual({ maxTokens: 5 })
    await w.call('PATCH', `/tasks/${task.id}`, { budget: { limitUsd: '3' } })
    expect((await w.read(task)).budget).toEqual({ maxUsd: '3' })
  })

  test('in requests about missions and routines', async () => {
    const w = await workspace()
    const mission = await makeMission(w, [{ tempId: 'a', budget: OLD }], { config: { budget: OLD } })
    expect(mission.config).toMatchObject({ budget: NEW })
    expect(await planOf(w, mission)).toMatchObject({ tasks: [{ budget: PLANNED }] })
    const patched = await w.call('PATCH', `/missions/${mission.id}`, { budget: { limitTokens: 10 } })
    expect(patched.body.config.budget).toEqual({ maxTokens: 10 })
    const plan = 'tasks:\n  - tempId: a\n    budget: { limit_usd: 2.5, limit_tokens: 9000 }\n'
    const written = await makeMission(w, [], { plan })
    expect(await planOf(w, written)).toMatchObject({ tasks: [{ budget: PLANNED }] })
    const routine = await saved(w, { config: { budget: OLD } })
    expect(routine.config).toMatchObject({ budget: NEW })
  })

  test('with the new ones, if both say the same', async () => {
    const w = await workspace()
    const make = (budget: Json) => w.post('/tasks', { title: 'a', budget })
    expect((await make({ ...OLD, ...NEW })).body.plan.budget).toEqual(NEW)
    expectRefusal(await make({ ...OLD, maxUsd: '2.60' }), 400, 'VALIDATION_FAILED', {
      errors: [
        {
          field: 'budget.maxUsd',
          message: 'is not what limitUsd says, which is its old name; give one of them',
        },
      ],
    })
    expectRefusal(await make({ limitUsd: 'much' }), 400, 'VALIDATION_FAILED', {
      errors: [{ field: 'budget.limitUsd', message: expect.anything() }],
    })
  })

  test('in what was stored with them: tasks, plans of missions, and routines', async () => {
    const w = await workspace()
    const plan = { tasks: [{ tempId: 'a', title: 'a', budget: OLD }] }
    const mission = await makeMission(w, plan.tasks)
    const routine = await saved(w, { plan, config: { budget: OLD } })
    await superuser(served().databaseUrl, async (client) => {
      const asBefore = (column: string) =>
        `replace(replace(${column}::text, '"maxUsd"', '"limitUsd"'), '"maxTokens"', '"limitTokens"')::json`
      const of = async (text: string, id: unknown) =>
        expect((await client.query(text, [id])).rowCount).toBe(1)
      await of(
        `update baton.mission_plans p set body = ${asBefore('p.body')} from baton.missions m
          where m.workspace_id = p.workspace_id and m.mission_id = p.mission_id and m.uuid = $1`,
        mission.id,
      )
      await of(
        `update baton.task_details d set plan = ${asBefore('d.plan')} from baton.tasks t join baton.missions m
             on m.workspace_id = t.workspace_id and m.mission_id = t.mission_id
          where d.workspace_id = t.workspace_id and d.task_id = t.id and m.uuid = $1`,
        mission.id,
      )
      await of(
        `update baton.routines set plan = ${asBefore('plan')}, config = ${asBefore('config')} where uuid = $1`,
        routine.id,
      )
    })
    expect(await planOf(w, mission)).toMatchObject({ tasks: [{ budget: PLANNED }] })
    expect((await planOf(w, mission)).tasks[0].budget).not.toHaveProperty('limitUsd')
    const { a } = await tasksByTitle(w, mission)
    expect(a!.plan).toMatchObject({ budget: PLANNED })
    expect((await w.read(a as { id: string })).budget).toEqual(PLANNED)
    // A plan with the new names is no change.
    const put = await w.call('PUT', `/missions/${mission.id}/plan`, {
      tasks: [{ ...plan.tasks[0], budget: NEW }],
    })
    expect(put.body.preview).toMatchObject({ changed: [], kept: [{ tempId: 'a', because: null }] })
    expect(await show(w, routine)).toMatchObject({
      ...{ plan: { tasks: [{ budget: PLANNED }] }, config: { budget: NEW } },
    })
    const started = (await run(w, routine)).body.missionId
    expect(await showMission(w, { id: started })).toMatchObject({ config: { budget: NEW } })
    expect(await planOf(w, { id: started })).toMatchObject({ tasks: [{ budget: PLANNED }] })
  })
})

describe('names that budgets never had are refused with the right one', () => {
  test.each([
    [{ budget: { budgetUsd: 5 } }, 'budget.budgetUsd', '; use maxUsd'],
    [{ budget: { max_usd: '5' } }, 'budget.max_usd', '; use maxUsd'],
    [{ budget: { cost: '5' } }, 'budget.cost', '; use maxUsd'],
    [{ budget: { tokenLimit: 5 } }, 'budget.tokenLimit', '; use maxTokens'],
    [{ budget: { currency: 'EUR' } }, 'budget.currency', ''],
    [{ costLimit: 5 }, 'costLimit', '; use budget.maxUsd'],
    [{ limitTokens: 5 }, 'limitTokens', '; use budget.maxTokens'],
    [{ cost: 5 }, 'cost', ''],
  ])('in requests: %j', async (body, field, hint) => {
    const w = await workspace()
    expectRefusal(await w.post('/tasks', { title: 'a', ...body }), 400, 'VALIDATION_FAILED', {
      errors: [{ field, message: `is not a field of this request${hint}` }],
    })
  })

  test('in plans', async () => {
    const w = await workspace()
    const tasks = [{ tempId: 'a', budget: { maxCost: 5 }, budgetUsd: 5 }]
    const { status, body } = await w.post('/missions', { goal: 'Spend', plan: { tasks } })
    expect(status).toBe(422)
    expect(body.problems).toMatchObject([
      { at: '/tasks/0/budget/maxCost', message: expect.stringMatching(/; use maxUsd$/) },
      { at: '/tasks/0/budgetUsd', message: expect.stringMatching(/; use budget\.maxUsd$/) },
    ])
  })
})
