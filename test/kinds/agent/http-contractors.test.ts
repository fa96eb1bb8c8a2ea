import { describe, expect, test } from 'vitest'
import {
  actOn,
  FULL_AUTO,
  makeMission,
  type PlannedTask,
  planOf,
  showMission,
  submit,
  take,
  tasksByTitle,
} from '../../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../../support/http-workspace.ts'
import { until } from '../../support/nodes.ts'

/** Contractors over HTTP. */

const { workspace } = useServer()

const put = (w: Workspace, slug: string, body: Json = {}) => w.call('PUT', `/agents/${slug}`, body)
const agent = (w: Workspace, slug: string) => w.call('GET', `/agents/${slug}`)
const slugs = async (w: Workspace, query = '') =>
  (await w.call('GET', `/agents${query}`)).body.items.map(({ slug }: Json) => slug)
const inState = (w: Workspace, slug: string, state: string) =>
  until(async () => (await agent(w, slug)).body.state === state)

const byContractor = (more: Json = {}): PlannedTask => ({
  ...{ tempId: 'a', contractor: { template: 'dev' } },
  ...more,
})

/** A mission of one task; its contractor is claimed for by the test. */
async function begin(task: Json = {}, body: Json = {}) {
  const w = await workspace()
  await put(w, 'dev', { name: 'Dev', capabilities: ['go'], model: 'opus' })
  const mission = await makeMission(w, [byContractor(task)], body)
  return { w, mission, slug: (mission.contractors as string[])[0]! }
}

const refusedPlaces = (answer: Awaited<ReturnType<Workspace['post']>>) => {
  expectRefusal(answer, 422, 'PLAN_INVALID')
  return answer.body.problems.map(({ at, message }: Json) => [at, message])
}
const unknown = (slug: string) => `is "${slug}", which is no agent of this workspace`

describe('a contractor', () => {
  test('is shown with its kind, mission and template, and its task with the kind of its agent', async () => {
    const { w, mission, slug } = await begin()
    expect((await agent(w, slug)).body).toMatchObject({
      ...{ slug, name: 'Dev', kind: 'contractor', missionId: mission.id, template: 'dev' },
      ...{ capabilities: ['go'], model: 'opus', state: 'idle' },
    })
    expect((await agent(w, 'dev')).body).toMatchObject({ kind: 'roster', missionId: null, template: null })
    const task = (await tasksByTitle(w, mission)).a!
    expect(task).toMatchObject({ agent: slug })
    const shown = async () => (await w.call('GET', `/tasks/${task.id}`)).body.agentType
    expect(await shown()).toBeNull()
    const held = await take(w, slug)
    expect(await shown()).toBe('contractor')
    await submit(w, held, slug)
    const { items } = (await w.call('GET', `/missions/${mission.id}/events?type=agent_*`)).body
    expect(items[0]).toMatchObject({
      ...{ type: 'agent_registered', entityType: 'agent', entityId: slug, missionId: mission.id },
      payload: { agent: slug, kind: 'contractor', template: 'dev', missionId: mission.id },
    })
  })

  test('is terminated after its mission, left out of the list of agents, and found by its kind', async () => {
    const { w, mission, slug } = await begin()
    expect(await slugs(w)).toEqual(['dev', slug])
    expect(await slugs(w, '?kind=roster')).toEqual(['dev'])
    await submit(w, await take(w, slug), slug)
    await inState(w, slug, 'terminated')
    expect((await showMission(w, mission)).contractors).toEqual([slug])
    expect(await slugs(w)).toEqual(['dev'])
    expect(await slugs(w, '?kind=contractor')).toEqual([slug])
    expect(await slugs(w, '?state=terminated')).toEqual([slug])
    expect((await w.call('GET', `/agents/${slug}/tasks`)).body.items).toHaveLength(1)
    expectRefusal(await w.call('GET', '/agents?kind=guest'), 400, 'VALIDATION_FAILED')
  })

  test('works again when its mission is retried, and nothing waits for people meanwhile', async () => {
    const { w, mission, slug } = await begin({ maxRetries: 0 })
    const held = await take(w, slug)
    await w.post(`/tasks/${held.taskId}/fail`, {
      ...fence(`s-${slug}`, held.generation),
      ...{ failureClass: 'invalid', error: 'no' },
    })
    await inState(w, slug, 'terminated')
    expect(await actOn(w, mission, 'retry')).toMatchObject({ status: 200 })
    const alerts = async () => (await w.call('GET', '/inbox')).body.counts.alert ?? 0
    expect(await alerts()).toBe(0)
    await inState(w, slug, 'idle')
    expect(await alerts()).toBe(0)
    await submit(w, await take(w, slug), slug)
    await inState(w, slug, 'terminated')
    expect((await showMission(w, mission)).state).toBe('completed')
  })

  test('takes nothing that is not reserved for it', async () => {
    const { w, slug } = await begin()
    const free = (await w.post('/tasks', { title: 'For anybody' })).body
    const who = { agent: slug, session: 's' }
    expectRefusal(await w.post(`/tasks/${free.id}/claim`, who), 409, 'WRONG_AGENT')
    const batch = await w.post('/claims/batch', { ...who, taskIds: [free.id] })
    expect(batch.body.results).toMatchObject([{ reason: 'WRONG_AGENT' }])
    const next = await w.post('/claims/next', { ...who, limit: 10, purposes: ['work', 'verification'] })
    expect(next.body.claims.map(({ task }: { task: Json }) => task.title)).toEqual(['a'])
  })

  test('does not judge: a roster of one asks a person', async () => {
    const { w, mission, slug } = await begin({ verification: { kind: 'agent' } })
    await w.call('DELETE', '/agents/dev')
    const other = await makeMission(w, [{ tempId: 'b', verification: { kind: 'agent' } }])
    await submit(w, await take(w, 'maker'), 'maker')
    await until(async () => (await tasksByTitle(w, other)).b!.state === 'awaiting_human')
    expect((await tasksByTitle(w, mission)).a).toMatchObject({ state: 'queued', agent: slug })
  })

  test('cannot be registered over, and nobody can take a slug of its form', async () => {
    const { w, slug } = await begin()
    const before = (await agent(w, slug)).body
    expectRefusal(await put(w, slug, { name: 'Mine' }), 409, 'WRONG_STATE')
    for (const field of ['kind', 'missionId', 'template'])
      expectRefusal(await put(w, 'mine', { [field]: null }), 400, 'VALIDATION_FAILED')
    expectRefusal(await put(w, before.id, { name: 'Mine' }), 409, 'WRONG_STATE')
    expect((await agent(w, slug)).body).toEqual(before)
    const forged = 'dev@mission-0123456789ab'
    expectRefusal(await put(w, forged), 400, 'VALIDATION_FAILED')
    const claim = { agent: forged, session: 's' }
    expectRefusal(await w.post('/claims/next', claim), 404, 'NOT_FOUND')
    const free = (await w.post('/tasks', { title: 'x' })).body
    expectRefusal(await w.post(`/tasks/${free.id}/claim`, claim), 404, 'NOT_FOUND')
    expect(await slugs(w)).toEqual(['dev', slug])
  })

  test('has the settings of its template, masked and hidden like those', async () => {
    const w = await workspace()
    const config = { command: '/bin/true', env: { TOKEN: 's3cret' } }
    expect(await put(w, 'dev', { adapterType: 'process', adapterConfig: config })).toMatchObject({
      status: 201,
    })
    await w.post('/agents/dev/pause')
    const mission = await makeMission(w, [byContractor()], { config: { autonomy: 'approve' } })
    await actOn(w, mission, 'approve')
    const [slug] = (await showMission(w, mission)).contractors
    const { body } = await agent(w, slug)
    expect(body.adapterConfig).toEqual((await agent(w, 'dev')).body.adapterConfig)
    expect(JSON.stringify(body)).not.toContain('s3cret')
    const { key } = (await w.post('/keys', { name: 'viewer', role: 'viewer' })).body
    const seen = await w.call('GET', `/agents/${slug}`, undefined, { authorization: `Bearer ${key}` })
    expect(seen.body).toMatchObject({ adapterConfig: null, adapterConfigHidden: true })
  })
})

describe('a plan with contractors', () => {
  test('is refused with every template that is not there', async () => {
    const w = await workspace()
    const other = await workspace()
    await put(w, 'dev')
    await put(w, 'gone')
    await w.post('/agents/gone/terminate', { graceful: false })
    await put(other, 'theirs')
    // Known by a claim alone.
    await w.post('/claims/next', { agent: 'passer-by', session: 's' })
    const named = ['dev', 'gone', 'theirs', 'passer-by', 'nobody']
    const tasks = named.map((template) => ({ tempId: template, contractor: { template } }))
    const plan = planOf(...tasks)
    const expected = named.slice(1).map((one, i) => [`/tasks/${i + 1}/contractor/template`, unknown(one)])
    const made = await w.post('/missions', { goal: 'x', plan, config: FULL_AUTO })
    expect(refusedPlaces(made)).toEqual(expected)
    expect(refusedPlaces(await w.post('/plans/check', plan))).toEqual(expected)
    const mission = await makeMission(w, [byContractor()], { config: { autonomy: 'approve' } })
    expect(refusedPlaces(await w.call('PUT', `/missions/${mission.id}/plan`, plan))).toEqual(expected)
    expect((await w.call('GET', '/missions')).body.items).toHaveLength(1)
    expect(await slugs(w)).toEqual(['dev', 'gone', 'passer-by'])
  })

  test('is refused with an agent beside the contractor', async () => {
    const w = await workspace()
    await put(w, 'dev')
    const both = await w.post('/missions', { goal: 'x', plan: planOf(byContractor({ agent: 'dev' })) })
    expect(refusedPlaces(both).map(([at]: string[]) => at)).toEqual(['/tasks/0/contractor'])
  })

  test('has at most twenty of them, together with those of the plan before', async () => {
    const w = await workspace()
    await put(w, 'dev')
    const named = (count: number, prefix = 'n') =>
      Array.from({ length: count }, (_, i) =>
        byContractor({ tempId: `${prefix}${i}`, contractor: { template: 'dev', name: `${prefix}${i}` } }),
      )
    const many = await w.post('/missions', { goal: 'x', plan: planOf(...named(22)) })
    expect(refusedPlaces(many).map(([at]: string[]) => at)).toEqual([
      '/tasks/20/contractor',
      '/tasks/21/contractor',
    ])
    const mission = await makeMission(w, named(20))
    expect(mission.contractors).toHaveLength(20)
    const newer = planOf(...named(20), ...named(1, 'm'))
    expect(refusedPlaces(await w.call('PUT', `/missions/${mission.id}/plan`, newer))).toEqual([
      ['/tasks/20/contractor', 'is contractor 21 of the mission, which may have at most 20'],
    ])
  })

  test('whose template is gone by its approval is not approved, and nothing is made', async () => {
    const w = await workspace()
    await put(w, 'dev')
    const mission = await makeMission(w, [byContractor()], { config: { autonomy: 'approve' } })
    await w.call('DELETE', '/agents/dev')
    expect(refusedPlaces(await actOn(w, mission, 'approve'))).toEqual([
      ['/tasks/0/contractor/template', unknown('dev')],
    ])
    expect(await showMission(w, mission)).toMatchObject({ state: 'awaiting_approval', contractors: [] })
    await put(w, 'dev')
    expect(await actOn(w, mission, 'approve')).toMatchObject({ status: 200 })
  })

  test('that starts later waits for a person when its template is gone by then', async () => {
    const w = await workspace()
    await put(w, 'dev')
    const first = await makeMission(w, [{ tempId: 'first' }])
    const mission = await makeMission(w, [byContractor()], { after: first.id })
    await w.call('DELETE', '/agents/dev')
    await submit(w, await take(w))
    const failed = await until(async () => {
      const { items } = (await w.call('GET', `/missions/${mission.id}/events?type=mission_plan_failed`)).body
      return items[0]
    })
    expect(failed.payload.reason).toContain('"dev"')
  })

  test('shows before its approval who would do its tasks, and a newer one makes who is missing', async () => {
    const w = await workspace()
    await put(w, 'dev')
    const mission = await makeMission(w, [byContractor()], { config: { autonomy: 'approve' } })
    const planned = (await w.call('GET', `/missions/${mission.id}/graph`)).body.nodes[0].agent
    await actOn(w, mission, 'approve')
    expect((await showMission(w, mission)).contractors).toEqual([planned])
    await w.call('DELETE', '/agents/dev')
    await put(w, 'ops')
    const newer = planOf(
      byContractor({ title: 'Other words' }),
      byContractor({ tempId: 'b', contractor: { template: 'ops' } }),
    )
    const proposed = await w.call('PUT', `/missions/${mission.id}/plan`, newer)
    expect(proposed).toMatchObject({ status: 200, body: { preview: { added: ['b'] } } })
    expect((await showMission(w, mission)).contractors).toEqual([planned])
    expect(await actOn(w, mission, 'approve')).toMatchObject({ status: 200 })
    const { contractors } = await showMission(w, mission)
    expect(contractors).toEqual([planned, expect.stringMatching(/^ops@mission-/)])
    const tasks = await tasksByTitle(w, mission)
    expect([tasks['Other words']!.agent, tasks.b!.agent]).toEqual(contractors)
  })

  test('of a clone has contractors of its own', async () => {
    const { w, mission, slug } = await begin()
    const clone = (await actOn(w, mission, 'clone')).body
    expect(clone.contractors).toHaveLength(1)
    expect(clone.contractors).not.toContain(slug)
    await actOn(w, clone, 'cancel')
    await inState(w, clone.contractors[0], 'terminated')
    expect((await agent(w, slug)).body.state).toBe('idle')
  })

  test('by an agent goes back to it with the templates that are not there', async () => {
    const w = await workspace()
    await put(w, 'planner', { capabilities: ['planning'] })
    await w.post('/missions', { goal: 'x', config: FULL_AUTO })
    const next = async () => {
      const who = { agent: 'planner', session: 's-planner', purposes: ['planning'], waitMs: 20_000 }
      return (await w.post('/claims/next', who)).body.claims[0]
    }
    const claim = await next()
    expect(claim.task.description).toContain('"contractor"')
    await submit(w, claim, 'planner', planOf(byContractor({ contractor: { template: 'nobody' } })))
    const again = await next()
    const { error } = (await w.call('GET', `/tasks/${again.taskId}`)).body
    expect(error).toContain(`/tasks/0/contractor/template: ${unknown('nobody')}`)
    await submit(w, again, 'planner', planOf(byContractor({ contractor: { template: 'planner' } })))
    const made = await until(async () => (await slugs(w, '?kind=contractor'))[0])
    expect(made).toMatch(/^planner@mission-/)
  })
})
