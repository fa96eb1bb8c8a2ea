import { describe, expect, test } from 'vitest'
import {
  actOn,
  claimOne,
  makeMission,
  showMission,
  submit,
  take,
  tasksByTitle,
} from '../support/http-missions.ts'
import { expectRefusal, fence, type Json, useServer, type Workspace } from '../support/http-workspace.ts'
import { superuser, until } from '../support/nodes.ts'

/**
 * Automatos 10.1: what is stored. Its columns are fields of the API here, under the names of DESIGN; what a database must
 * refuse, it must refuse from everybody.
 */

const { served, workspace } = useServer()

/** As a superuser, whom no policy stops; rolled back. */
const attempt = (sql: string, values: unknown[] = []): Promise<{ rows: Json[]; refused: string | null }> =>
  superuser(served().databaseUrl, async (client) => {
    await client.query('set search_path = baton')
    await client.query('begin')
    try {
      return { rows: (await client.query(sql, values)).rows, refused: null }
    } catch (error) {
      return { rows: [], refused: (error as { code: string }).code }
    } finally {
      await client.query('rollback')
    }
  })
const CHECK = '23514'
const FOREIGN_KEY = '23503'

/** The field of an answer, also of what is inside it. */
const at = (answer: Json, path: string) =>
  path.split('.').reduce<unknown>((inside, name) => (inside as Json | undefined)?.[name], answer)

const read = async (w: Workspace, path: string): Promise<Json> => (await w.call('GET', path)).body

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

  test('AC-3: a dependency is kept once, and no task depends on itself', async () => {
    const w = await workspace()
    const [one, other] = [await w.make(), await w.make()]
    const depend = (on: string[]) => w.post(`/tasks/${other.id}/dependencies`, { dependsOn: on })
    expectRefusal(await depend([other.id]), 400, 'VALIDATION_FAILED')
    expectRefusal(await depend([one.id, one.id]), 400, 'VALIDATION_FAILED')
    expect((await depend([one.id])).status).toBe(200)
    const key = await attempt(
      `select array_agg(a.attname::text order by k.place) as columns from pg_index i,
         unnest(i.indkey) with ordinality as k(number, place)
         join pg_attribute a on a.attrelid = 'task_dependencies'::regclass and a.attnum = k.number
        where i.indrelid = 'task_dependencies'::regclass and i.indisprimary`,
    )
    expect(key.rows).toEqual([{ columns: ['workspace_id', 'task_id', 'depends_on'] }])
    const itself = `update task_dependencies set depends_on = task_id where task_id = (select id from tasks where uuid = $1)`
    expect((await attempt(itself, [other.id])).refused).toBe(CHECK)
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

describe('what the database refuses from everybody', () => {
  test('AC-6: rows that point to nothing, or into another workspace', async () => {
    const [w, other] = [await workspace(), await workspace()]
    const [mission, theirs] = [
      await makeMission(w, [{ tempId: 'a' }]),
      await makeMission(other, [{ tempId: 'a' }]),
    ]
    const { a } = await tasksByTitle(w, mission)
    const agent = (await w.call('PUT', '/agents/dev', {})).body
    expect(agent.slug).toBe('dev')
    const copy = (table: string, changed: Record<string, string>, where: string) => {
      const names = Object.keys(changed)
      return `insert into ${table} select (jsonb_populate_record(t, jsonb_build_object(${names
        .map((name) => `'${name}', ${changed[name]}`)
        .join(', ')}))).* from ${table} t where ${where}`
    }
    const ofMission = `mission_id = (select mission_id from missions where uuid = '${mission.id}')`
    const foreign = `(select mission_id from missions where uuid = '${theirs.id}')`
    const ofTask = `id = (select id from tasks where uuid = '${a!.id}')`
    const FRESH = { id: `nextval('task_ids')`, uuid: 'gen_random_uuid()' }
    const broken = {
      'missions to workspaces': copy('missions', { workspace_id: '-1' }, ofMission),
      'tasks to workspaces': copy('tasks', { ...FRESH, workspace_id: '-1', mission_id: 'null' }, ofTask),
      'tasks to missions': copy('tasks', { ...FRESH, mission_id: '-1' }, ofTask),
      'tasks to missions of their workspace': copy('tasks', { ...FRESH, mission_id: foreign }, ofTask),
      'plans to missions': copy('mission_plans', { mission_id: '-1' }, ofMission),
      'counters to missions': copy('mission_counters', { mission_id: foreign }, ofMission),
      'dependencies to their task': `insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule)
        select workspace_id, -1, id, 'all_success' from tasks where ${ofTask}`,
      'dependencies to what they wait for': `insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule)
        select workspace_id, id, -1, 'all_success' from tasks where ${ofTask}`,
      'health to agents': copy(
        'agent_health',
        { slug: `'nobody'` },
        `slug = 'dev' and workspace_id = (select workspace_id from missions where uuid = '${mission.id}')`,
      ),
    }
    for (const [what, sql] of Object.entries(broken))
      expect((await attempt(sql)).refused, what).toBe(FOREIGN_KEY)
  })

  test('AC-7: negative tokens, costs, counts and attempts; and a score beyond one is no verdict', async () => {
    const w = await workspace()
    await w.post('/claims/next', { agent: 'judge', session: 's-judge' })
    const mission = await makeMission(w, [{ tempId: 'a', verification: { kind: 'agent' } }, { tempId: 'b' }])
    const counters = `where mission_id = (select mission_id from missions where uuid = '${mission.id}')`
    for (const field of ['tokens', 'usd', 'completed', 'failed', 'queued'])
      expect((await attempt(`update mission_counters set ${field} = -1 ${counters}`)).refused, field).toBe(
        CHECK,
      )
    const tasks = `where mission_id = (select mission_id from missions where uuid = '${mission.id}')`
    for (const field of ['attempt', 'generation', 'max_retries', 'max_continuations'])
      expect((await attempt(`update tasks set ${field} = -1 ${tasks}`)).refused, field).toBe(CHECK)

    const { a } = await tasksByTitle(w, mission)
    await submit(w, await claimOne(w, a!))
    const judging = { agent: 'judge', session: 's-judge', purposes: ['verification'], waitMs: 10_000 }
    const [first] = (await w.post('/claims/next', judging)).body.claims
    await submit(w, first, 'judge', { verdict: 'pass', score: 1.7 })
    const [again] = (await w.post('/claims/next', judging)).body.claims
    expect(again).toMatchObject({ taskId: first.taskId, generation: 2 })
    expect(await read(w, `/tasks/${a!.id}`)).toMatchObject({ state: 'verifying', verifierScore: null })
  })

  test('AC-8: what is read often has an index, and over what is active it is a small one', async () => {
    const { rows } = await attempt(
      `select indexname as name, indexdef as text from pg_indexes where schemaname = 'baton'`,
    )
    const found = Object.fromEntries(rows.map(({ name, text }) => [name as string, text as string]))
    const expected = {
      missions_pkey: '(workspace_id, mission_id)',
      missions_under_way: 'WHERE (completed_at IS NULL)',
      missions_by_state: '(workspace_id, state, mission_id)',
      tasks_of_mission: '(workspace_id, mission_id, id) WHERE (mission_id IS NOT NULL)',
      tasks_of_agent: `WHERE ((claim_state = 'active'::text) AND (agent IS NOT NULL))`,
      tasks_waiting: 'WHERE ((rank IS NOT NULL) AND (only_agent IS NULL))',
      task_dependencies_pkey: '(workspace_id, task_id, depends_on)',
      task_dependencies_downstream: '(workspace_id, depends_on, task_id)',
      events_pkey: '(workspace_id, seq)',
      events_of_mission: '(workspace_id, mission_id, seq) WHERE (mission_id IS NOT NULL)',
      events_of_task: 'USING brin (task_id int8_bloom_ops)',
      events_of_workspace: '(workspace_id, type, seq) WHERE ',
    }
    for (const [name, text] of Object.entries(expected)) expect(found[name], name).toContain(text)
  })
})
