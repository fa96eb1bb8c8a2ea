import { expect, test, vi } from 'vitest'
import { systemCaller } from '../../../src/kernel/caller.ts'
import { REPORTS } from '../../../src/kernel/store/log-followers.ts'
import { reports as follower } from '../../../src/kinds/report/upkeep.ts'
import { createRoutine, runRoutine } from '../../../src/kinds/routine/acts.ts'
import { RoutineCreate } from '../../../src/kinds/routine/shapes.ts'
import { following } from '../../../src/upkeep/follower.ts'
import { CHORES, type CoordinatorContext } from '../../../src/upkeep/pass.ts'
import { createMission, missionIn, missionTask } from '../../support/missions.ts'
import { granted, holder } from '../../support/tasks.ts'
import { useCluster, type WakeupWorkspace } from '../../support/wakeups.ts'

/** Reports are written at least once after a crash, and once for each end. */

const cluster = useCluster()
const alpha = holder('alpha')

/** A mission of two tasks, of which this many are done. */
async function begun(h: WakeupWorkspace, done: number) {
  const mission = missionIn(await createMission(h.work, (id) => [missionTask(id), missionTask(id)]))
  const tasks = await cluster.rows<{ id: number; uuid: string }>(
    'select id::int, uuid from tasks where workspace_id = $1 and mission_id = $2 order by id',
    [h.id, mission.id],
  )
  for (const task of tasks.slice(0, done)) await h.work.submit(task, granted(await h.work.claim(task, alpha)))
  return { mission, tasks }
}

const write = (h: WakeupWorkspace) => following(follower)({ kernel: cluster.kernel(), only: h.id })
const reports = (h: WakeupWorkspace) =>
  cluster.rows<{ task: number | null; version: number; seq: number }>(
    `select task_id::int as task, version, ended_seq::int as seq from reports where workspace_id = $1 order by report_id`,
    [h.id],
  )
/** As if the node had died after it wrote the reports, and before it moved the cursor. */
const forget = (h: WakeupWorkspace) =>
  cluster.rows(`update log_cursors set seq = 0 where workspace_id = $1 and follower = $2`, [h.id, REPORTS])

test('an end that is seen again after a crash is reported on once', async () => {
  const h = await cluster.workspace()
  const { tasks } = await begun(h, 2)
  await write(h)
  const before = await reports(h)
  expect(before.map(({ task, version }) => [task, version])).toEqual([
    [tasks[0]!.id, 1],
    [tasks[1]!.id, 1],
    [null, 1],
  ])
  await forget(h)
  await write(h)
  expect(await reports(h)).toEqual(before)
  expect((await h.work.events()).filter(({ type }) => type === 'report_written')).toHaveLength(3)
})

const nextRange = async (h: WakeupWorkspace) => (await cluster.store().followers.behind(REPORTS, h.id))[0]!

test('two nodes that handle the same part of the log write one report for each end', async () => {
  const h = await cluster.workspace()
  await begun(h, 2)
  const range = await nextRange(h)
  // The first still believes that it leads.
  const both = vi.spyOn(cluster.store().followers, 'behind').mockResolvedValue([range, { ...range }])
  await write(h).finally(() => both.mockRestore())
  expect((await reports(h)).map(({ version }) => version)).toEqual([1, 1, 1])
})

test('a task that was done again before anybody looked is reported on once, when it has ended for the last time', async () => {
  const h = await cluster.workspace()
  const { tasks } = await begun(h, 1)
  const [task] = tasks
  const range = await nextRange(h)
  await h.work.command(task!, { kind: 'reset', reason: null })
  await h.work.submit(task!, granted(await h.work.claim(task!, alpha)))
  // The part of the log with the first end.
  const first = vi.spyOn(cluster.store().followers, 'behind').mockResolvedValueOnce([range])
  await write(h).finally(() => first.mockRestore())
  expect(await reports(h)).toEqual([])
  await write(h)
  expect(await reports(h)).toMatchObject([{ task: task!.id, version: 1 }])
})

test('while the run that led to an end is not over, neither that nor what came after it is reported on', async () => {
  const h = await cluster.workspace()
  const { tasks } = await begun(h, 2)
  const [, second] = tasks
  await cluster.rows(
    `insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, task_id, task_uuid, generation, attempt,
       session, node_id, token_hash, created_at, started_at)
     values ($1, gen_random_uuid(), 'alpha', gen_random_uuid(), 'process', 'assignment', 'running', $2, $3, 1, 1, 's-alpha',
       gen_random_uuid(), sha256($3::uuid::text::bytea), now(), now())`,
    [h.id, second!.id, second!.uuid],
  )
  await write(h)
  expect(await reports(h)).toMatchObject([{ task: tasks[0]!.id }])
  const over = `update runs set status = 'succeeded', token_hash = null, finished_at = now(), input_tokens = 70000, output_tokens = 7, usage_basis = 'reported', cost_usd = 0.5
    where workspace_id = $1`
  await cluster.rows(over, [h.id])
  await cluster.rows(
    `insert into usage_sources (workspace_id, source_id, generation, agent, task_id, mission_id, operation, rows, input_tokens, output_tokens,
       cost_usd, started_at, updated_at)
     select r.workspace_id, r.run_id, 0, r.agent, r.task_id, t.mission_id, 'work', 1, 70000, 7, 0.5, now(), now()
       from runs r join tasks t on t.workspace_id = r.workspace_id and t.id = r.task_id where r.workspace_id = $1`,
    [h.id],
  )
  await cluster.rows('update log_cursors set retry_at = now() where workspace_id = $1', [h.id])
  await write(h)
  expect(await reports(h)).toMatchObject([{ task: tasks[0]!.id }, { task: second!.id }, { task: null }])
  const [{ markdown }] = (await cluster.rows<{ markdown: string }>(
    'select markdown from reports where workspace_id = $1 and task_id = $2',
    [h.id, second!.id],
  )) as [{ markdown: string }]
  expect(markdown).toContain('70,007 tokens. $0.5.')
})

test('many ends at once are written in a few transactions, each mission separately', async () => {
  const h = await cluster.workspace()
  const mission = missionIn(
    await createMission(h.work, (id) =>
      Array.from({ length: 110 }, () => missionTask(id, { maxRetries: 0 })),
    ),
  )
  const tasks = await cluster.rows<{ id: number; uuid: string }>(
    'select id::int, uuid from tasks where workspace_id = $1 and mission_id = $2',
    [h.id, mission.id],
  )
  for (const task of tasks) await h.work.submit(task, granted(await h.work.claim(task, alpha)))
  const commits = vi.spyOn(cluster.store(), 'transact')
  await write(h)
  const { length } = commits.mock.calls
  commits.mockRestore()
  expect(await reports(h)).toHaveLength(111)
  expect(length).toBe(2)
})

test('the first mission of a workspace is reported on, also when a routine started it', async () => {
  const h = await cluster.workspace()
  const caller = { ...systemCaller(h.id), actor: 'key:person' }
  const body = RoutineCreate.parse({ name: 'Nightly', plan: { tasks: [{ tempId: 'a' }] } })
  const routine = await createRoutine(cluster.kernel(), caller, body)
  await runRoutine(cluster.kernel(), caller, routine, {})
  const [task] = await cluster.rows<{ id: number; uuid: string }>(
    'select id::int, uuid from tasks where workspace_id = $1',
    [h.id],
  )
  await h.work.submit(task!, granted(await h.work.claim(task!, alpha)))
  await write(h)
  expect(await reports(h)).toMatchObject([{ task: task!.id }, { task: null }])
})

test('missions that are older than reports are followed from the next look on', async () => {
  const h = await cluster.workspace()
  const { tasks } = await begun(h, 1)
  await cluster.store().followers.unfollow(h.id, REPORTS)
  await CHORES.find(({ name }) => name === 'newFollowers')!.run({
    kernel: cluster.kernel(),
  } as CoordinatorContext)
  for (const task of tasks.slice(1)) await h.work.submit(task, granted(await h.work.claim(task, alpha)))
  await write(h)
  expect(await reports(h), 'not on the end before').toMatchObject([{ task: tasks[1]!.id }, { task: null }])
})
