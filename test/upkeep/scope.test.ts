import { pino } from 'pino'
import { expect, test } from 'vitest'
import { dueTimers, workWithoutWakeup } from '../../src/kinds/run/postgres/wakeups.ts'
import { dueAgents } from '../../src/kinds/task/postgres/due.ts'
import { Coordinator } from '../../src/upkeep/coordinator.ts'
import { Leadership } from '../../src/upkeep/leadership.ts'
import { heartbeat, register, terminate } from '../support/agents.ts'
import { contractorTask } from '../support/contractors.ts'
import {
  commandMission,
  createMission,
  creation,
  freshMission,
  missionIn,
  missionTask,
  planOf,
} from '../support/missions.ts'
import { createRoutine } from '../support/routines.ts'
import { granted, grantedTasks, holder, newTask } from '../support/tasks.ts'
import { ago } from '../support/times.ts'
import { useCluster, type WakeupWorkspace } from '../support/wakeups.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const alpha = holder('alpha')

const cluster = useCluster()

/** Not started: it does what is requested, and nothing else is done meanwhile. */
const coordinator = () =>
  new Coordinator(
    cluster.kernel(),
    new Leadership(cluster.store(), 'here'),
    'here',
    pino({ level: 'silent' }),
  )

const external = { coordinatorEnabled: false, adapterType: 'external' }

/** Something for every step of the coordinator. */
async function neglect(h: WakeupWorkspace): Promise<void> {
  const then = ago(h.work, 2 * HOUR)
  granted(await then.claim(await then.create(), alpha, { leaseMs: MINUTE }))
  const retried = await then.create()
  await then.fail(retried, granted(await then.claim(retried, alpha)))
  await then.register('silent-worker', 1)
  await register(then, 'silent', external)
  await heartbeat(then, 'silent')
  await register(h.work, 'leaving', external)
  const last = await h.work.create({ onlyAgent: 'leaving' })
  const hold = granted(await h.work.claim(last, holder('leaving')))
  await terminate(h.work, 'leaving', true)
  await h.work.submit(last, hold)
  const upstream = await h.work.create()
  await h.work.create({ onlyAgent: 'nobody' }, [upstream])
  await h.work.submit(upstream, granted(await h.work.claim(upstream, alpha)))
  await h.agent('timed', { intervalSec: 3_600 }, { coordinatorEnabled: false })
  await cluster.rows(
    `insert into agent_runtime_state (workspace_id, agent, adapter_type, next_timer_at)
     values ($1, 'timed', 'scripted', now() - interval '1 minute')`,
    [h.id],
  )
  await h.agent('given', {}, { coordinatorEnabled: false })
  await h.assign('given', await h.work.create({ onlyAgent: 'given' }))
  await h.agent('idle', {}, { coordinatorEnabled: true })
  await h.work.create()
  await cluster.rows(
    'update workspace_counters set active_claims = active_claims + 7 where workspace_id = $1',
    [h.id],
  )
  // Its task is left to be cancelled.
  const mission = missionIn(await createMission(h.work, (id) => [missionTask(id)]))
  await commandMission(h.work, mission.uuid, { kind: 'cancel', reason: null })
  // Its time came long ago.
  await createRoutine(then, { cron: '0 * * * *' })
  // Its contractor is left to be terminated.
  const brief = freshMission()
  const alone = contractorTask(brief, { template: 'timed' })
  const command = { ...creation(brief.id, { autonomy: 'full_auto' }), planning: null }
  await commandMission(h.work, brief.uuid, { ...command, proposed: planOf([alone]) })
  const contractor = holder(alone.onlyAgent!)
  const [task] = grantedTasks(await h.work.next(contractor))
  await h.work.submit(task!, { ...contractor, generation: 1 })
  // Its verification is needed no more.
  const judged = await h.work.create({ verification: 'baton' })
  const { generation } = granted(await h.work.claim(judged, alpha))
  await h.work.submit(judged, { ...alpha, generation })
  const serves = { taskId: judged.id, uuid: judged.uuid, generation, notAgents: ['alpha'] }
  await h.work.create({ purpose: 'verification', serves, onlyAgent: 'nobody' })
  await h.work.command(judged, { kind: 'cancel', reason: null })
}

/** Everything that a step could change. */
const everythingIn = async ({ id }: WakeupWorkspace) => ({
  events: await cluster.rows('select * from events where workspace_id = $1 order by seq', [id]),
  tasks: await cluster.rows('select * from tasks where workspace_id = $1 order by id', [id]),
  attempts: await cluster.rows(
    'select * from attempts where workspace_id = $1 order by task_id, generation',
    [id],
  ),
  sessions: await cluster.rows('select * from sessions where workspace_id = $1 order by session', [id]),
  agents: await cluster.rows('select * from agents where workspace_id = $1 order by slug', [id]),
  health: await cluster.rows('select * from agent_health where workspace_id = $1 order by slug', [id]),
  runtime: await cluster.rows('select * from agent_runtime_state where workspace_id = $1 order by agent', [
    id,
  ]),
  wakeups: await cluster.rows('select * from wakeups where workspace_id = $1', [id]),
  missions: await cluster.rows('select * from missions where workspace_id = $1', [id]),
  counters: await cluster.rows('select * from workspace_counters where workspace_id = $1', [id]),
})

test('recovery on demand does what is due in its workspace, and touches no other', async () => {
  const [own, other] = [await cluster.workspace(), await cluster.workspace()]
  await neglect(other)
  await neglect(own)
  // Renewed long ago, and checked again at the next pass.
  const renewed = await ago(other.work, 2 * HOUR).create()
  const hold = granted(await ago(other.work, 2 * HOUR).claim(renewed, alpha, { leaseMs: HOUR }))
  await ago(other.work, 90 * MINUTE).renew(renewed, hold, 5 * HOUR)
  const before = await everythingIn(other)
  const did = await coordinator().recover(own.id)
  // What concerns alerts, budgets, the ledger and webhooks is in the tests of those.
  const elsewhere = new Set([
    ...['alertsFollowed', 'budgetsElapsed', 'budgetsResumed', 'reservationsSwept', 'ledgerCorrected'],
    ...['webhooksTold', 'webhooksBegun', 'webhooksKnown'],
  ])
  expect(Object.entries(did).filter(([name, count]) => count === 0 && !elsewhere.has(name))).toEqual([])
  expect(await everythingIn(other)).toEqual(before)
  const rest = await coordinator().recover(other.id)
  expect(rest, 'what was left there is the same').toEqual(did)
})

test('agents of one workspace do not hide those of another from the coordinator', async () => {
  const [many, single] = [await cluster.workspace(), await cluster.workspace()]
  const [longAgo, later] = [ago(many.work, 3 * HOUR), ago(single.work, 2 * HOUR)]
  const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j']
  for (const slug of slugs) {
    await register(longAgo, slug, external)
    await many.agent(`${slug}-timed`, { intervalSec: 3_600 }, { coordinatorEnabled: false })
  }
  await register(later, 'z', external)
  await single.agent('z-timed', { intervalSec: 3_600 }, { coordinatorEnabled: false })
  const { readers } = cluster.store()
  const silent = await dueAgents(readers, slugs.length)
  expect(silent.filter(({ workspaceId }) => workspaceId === single.id)).toEqual([
    { workspaceId: single.id, slug: 'z' },
  ])
  const timers = await dueTimers(readers, slugs.length)
  expect(timers.filter(({ workspaceId }) => workspaceId === single.id)).toHaveLength(1)
  expect(await dueAgents(readers, 100, single.id)).toHaveLength(1)
  expect(await dueTimers(readers, 100, single.id)).toHaveLength(1)
})

test('work without a wakeup of one workspace does not hide that of another', async () => {
  const [many, single] = [await cluster.workspace(), await cluster.workspace()]
  const roomy = { coordinatorEnabled: false, maxConcurrentTasks: 10 }
  for (const h of [many, single]) await h.agent('busy', {}, roomy)
  for (const task of await many.work.createAll(Array.from({ length: 10 }, () => newTask())))
    await many.assign('busy', task)
  await single.assign('busy', await single.work.create())
  const found = await workWithoutWakeup(cluster.store().readers, null, 10)
  expect(found.filter(({ workspaceId }) => workspaceId === single.id)).toHaveLength(1)
  expect(found).toHaveLength(10)
})
