import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { ServerKernel } from '../../../src/door/server-kernel.ts'
import { alerts } from '../../../src/kinds/alert/acts/follow.ts'
import { settleAlerts } from '../../../src/kinds/alert/acts/look.ts'
import { settleMarksOf } from '../../../src/kinds/alert/acts/untaken.ts'
import { ALERT_CAUSES, type AlertCause, causeOf } from '../../../src/kinds/alert/causes.ts'
import { listAlerts } from '../../../src/kinds/alert/postgres/alerts.ts'
import type { EventType } from '../../../src/kinds/events.ts'
import type { PostgresStore } from '../../../src/store/store.ts'
import { commandAgent, pause, register, resume } from '../../support/agents.ts'
import { appendEvents } from '../../support/append-events.ts'
import { kernelOf } from '../../support/mission-upkeep.ts'
import { databaseUrlOf, superuser, useNodes } from '../../support/nodes.ts'
import { granted, holder, newTask, type Task } from '../../support/tasks.ts'

/** Every cause of an alert of a workspace: raised when something is wrong, and over when it is right again. */

const nodes = useNodes('postgres')
const store = () => nodes.store() as PostgresStore
const alpha = holder('alpha')

/** A workspace, and upkeep of its alerts by hand. */
async function watched() {
  const work = await nodes.work({ verifyTimeoutSeconds: 1 })
  const kernel = kernelOf(work) as unknown as ServerKernel
  let seen = 0
  /** What a pass of the coordinator does about alerts. */
  const pass = async () => {
    await settleMarksOf(kernel, work.workspace)
    const events = await work.events(seen)
    seen = events.at(-1)?.seq ?? seen
    if (events.length > 0) await alerts.handle({ kernel }, work.workspace, events)
    await settleAlerts({ kernel, workspaceId: work.workspace })
  }
  const rows = (text: string, ...values: unknown[]) =>
    superuser(databaseUrlOf(work.store), async (client) => {
      await client.query('set search_path = baton')
      return (await client.query(text, [work.workspace, ...values])).rows
    })
  const list = () => listAlerts(store().readers, work.workspace, {}, 100)
  const open = async () => (await list()).filter(({ resolvedAt }) => resolvedAt === null)
  const append = (type: EventType, payload: Record<string, unknown>) =>
    appendEvents(store(), work.workspace, [[type, { actor: 'system' }, payload]])
  const threshold = (cause: AlertCause, value: number, isOn = true) =>
    work.run({
      on: 'threshold',
      actor: 'key:test',
      key: cause,
      uuid: '',
      command: { kind: 'set', value, isOn },
    })
  return { work, pass, rows, list, open, append, threshold }
}
type Watched = Awaited<ReturnType<typeof watched>>

interface Story {
  wrong(w: Watched): Promise<unknown>
  right(w: Watched, made: never): Promise<unknown>
}

const story = <T>(
  wrong: (w: Watched) => Promise<T>,
  right: (w: Watched, made: T) => Promise<unknown>,
): Story => ({
  wrong,
  right: right as Story['right'],
})

const failed = async ({ work }: Watched, failureClass: 'out_of_memory' | 'infrastructure') => {
  const task = await work.create({ maxRetries: 0 })
  const hold = granted(await work.claim(task, alpha))
  await work.fail(task, hold, failureClass, 'killed at 16 GB')
  return task
}
const faulted = (reason: string) =>
  story(
    async ({ work }) => {
      await register(work, 'dev', { adapterType: 'process' })
      await commandAgent(work, 'dev', { kind: 'fault', reason })
    },
    ({ work }) => resume(work, 'dev'),
  )
const budgetUsed = (used: number) =>
  story(
    async ({ work, rows }) => {
      const scope = { scope: 'workspace', scopeKey: 'workspace', scopeId: null, period: 'none' } as const
      const settings = { countNotional: false, onUnknownPrice: 'ask', isPaced: false } as const
      const command = { kind: 'create', ...scope, ...settings, maxUsd: '100', maxTokens: null } as const
      await work.run({ on: 'budget', actor: 'key:test', key: BUDGET, uuid: BUDGET, command })
      await rows('update budgets set consumed_usd = $2, warned_at = now() where workspace_id = $1', used)
    },
    ({ work }) =>
      work.run({
        ...{ on: 'budget', actor: 'key:test', key: BUDGET, uuid: BUDGET },
        command: { kind: 'update', ifVersion: null, set: { maxUsd: '1000' } },
      }),
  )
const BUDGET = '00000000-0000-7000-8000-0000000000aa'
/** Events within the last hour, and an hour later. */
const rate = (cause: AlertCause, type: EventType, payload: Record<string, unknown>) =>
  story(
    async (w) => {
      await w.threshold(cause, 1)
      await w.append(type, payload)
      await w.append(type, payload)
    },
    ({ rows }) => rows(`update events set at = at - interval '2 hours' where workspace_id = $1`),
  )
const marked = (task: Parameters<typeof newTask>[0], right: (w: Watched, task: Task) => Promise<unknown>) =>
  story(async ({ work, rows }) => {
    await register(work, 'writer')
    await pause(work, 'writer')
    const [made] = await work.createAll([newTask(task)])
    await rows(`update tasks set updated_at = updated_at - interval '1 hour' where workspace_id = $1`)
    await rows(`update agents set updated_at = updated_at - interval '1 hour' where workspace_id = $1`)
    return made as Task
  }, right)
const routine = { routineId: randomUUID() }
const webhook = { webhookId: randomUUID() }
const event = (
  wrong: EventType,
  payload: Record<string, unknown>,
  right: EventType,
  over: Record<string, unknown>,
) =>
  story(
    ({ append }) => append(wrong, payload),
    ({ append }) => append(right, over),
  )
const quiet = (type: EventType, payload: Record<string, unknown>) =>
  story(
    ({ append }) => append(type, payload),
    ({ rows }) =>
      rows(`update alerts set first_at = first_at - interval '25 hours', last_at = last_at - interval '25 hours'
             where workspace_id = $1`),
  )

const STORIES: Partial<Record<AlertCause, Story>> = {
  task_not_taken: marked({ capabilities: ['cobol'] }, ({ work }) =>
    register(work, 'old-hand', { capabilities: ['cobol'] }),
  ),
  task_reserved: marked({ onlyAgent: 'writer' }, ({ work }) => resume(work, 'writer')),
  plan_not_taken: marked({ purpose: 'planning' }, ({ work }, task) => work.cancel(task)),
  not_verified: story(
    async ({ work, rows }) => {
      await work.create()
      await rows(`update task_details set waits_kind = 'review', waits_since = now(), waits_because = 'no_verdict: nobody took it'
                   where workspace_id = $1`)
    },
    ({ rows }) =>
      rows(
        'update task_details set waits_kind = null, waits_since = null, waits_because = null where workspace_id = $1',
      ),
  ),
  dead_letters: story(
    (w) => failed(w, 'infrastructure'),
    ({ work }, task) => work.archive(task),
  ),
  agent_error: faulted('invalid_working_directory: there is no such folder'),
  login_lost: faulted('not_logged_in: 401'),
  budget_low: budgetUsed(95),
  budget_spent: budgetUsed(100),
  out_of_memory: story(
    (w) => failed(w, 'out_of_memory'),
    ({ work }, task) => work.retry(task),
  ),
  cycle: quiet('dependency_cycle_found', { cycle: ['a', 'b', 'a'] }),
  counter_drift: quiet('counters_corrected', {
    counter: 'COUNTER_DRIFT',
    error: 'it was 3, but there are 2',
  }),
  routine_failed: event(
    ...(['routine_failed', { ...routine, scheduledFor: 'x', reason: 'gone' }, 'routine_started'] as const),
    { ...routine, missionId: 'x', scheduledFor: null },
  ),
  routine_stuck: event(
    ...(['routine_skipped', { ...routine, scheduledFor: 'x', inRow: 3 }, 'routine_removed'] as const),
    routine,
  ),
  webhook_disabled: event(
    'webhook_disabled' as EventType,
    { ...webhook, reason: 'it answered 410' },
    'webhook_resumed' as EventType,
    webhook,
  ),
  queue_age: story(
    async ({ work, rows }) => {
      const task = await work.create()
      await rows(`update tasks set updated_at = updated_at - interval '5 hours' where workspace_id = $1`)
      return task
    },
    ({ work }, task) => work.cancel(task),
  ),
  expiry_rate: rate('expiry_rate', 'task_lease_expired', {}),
  failed_tasks: rate('failed_tasks', 'task_failed', {}),
  stale_agents: story(
    async ({ work, rows, threshold }) => {
      await threshold('stale_agents', 0)
      await register(work, 'dev')
      await rows(`update agents set state = 'offline', state_reason = 'silent' where workspace_id = $1`)
    },
    ({ rows }) => rows(`update agents set state = 'idle', state_reason = null where workspace_id = $1`),
  ),
  pending_tasks: story(
    async ({ work, threshold }) => {
      await threshold('pending_tasks', 0)
      return work.create()
    },
    ({ work }, task) => work.cancel(task),
  ),
  spawn_rate: story(
    async ({ rows, threshold }) => {
      await threshold('spawn_rate', 0)
      await rows(
        `insert into runs (workspace_id, run_id, agent, agent_id, adapter_type, source, status, node_id, created_at, started_at, finished_at)
         values ($1, $2, 'dev', gen_random_uuid(), 'process', 'timer', 'succeeded', gen_random_uuid(), now(), now(), now())`,
        `${Date.now()
          .toString(16)
          .padStart(12, '0')
          .replace(/^(.{8})/, '$1-')}-7000-8000-000000000001`,
      )
    },
    ({ rows }) => rows('delete from runs where workspace_id = $1'),
  ),
}

const OF_WORKSPACES = ALERT_CAUSES.filter((cause) => causeOf(cause).scope === 'workspace')

test.each(OF_WORKSPACES)('%s is raised once, and over when its cause is gone', async (cause) => {
  const w = await watched()
  const { wrong, right } = STORIES[cause]!
  const made = await wrong(w)
  await w.pass()
  const [alert, ...others] = await w.open()
  expect(others).toEqual([])
  expect(alert).toMatchObject({ cause, severity: causeOf(cause).severity, number: 1, count: 1 })
  await w.pass()
  expect(await w.list(), 'another look changes nothing').toEqual([alert])
  await right(w, made as never)
  await w.pass()
  const told = (await w.work.events()).filter(
    ({ type }) => type === 'alert_raised' || type === 'alert_resolved',
  )
  expect(await w.open()).toEqual([])
  expect(told).toMatchObject([
    { type: 'alert_raised', payload: { alert: cause, alertId: alert!.alertId } },
    { type: 'alert_resolved', payload: { alert: cause, alertId: alert!.alertId } },
  ])
})

test('events that are seen twice, as after a crash, count once, and another one is counted', async () => {
  const { work, append, list } = await watched()
  const kernel = kernelOf(work) as unknown as ServerKernel
  const handle = async (after = 0) => {
    const events = await work.events(after)
    await alerts.handle({ kernel }, work.workspace, events)
    return events.at(-1)!.seq
  }
  const drift = { counter: 'COUNTER_DRIFT', error: 'it was 3, but there are 2' }
  await append('counters_corrected', drift)
  await append('counters_corrected', drift)
  const seen = await handle()
  expect(await list()).toMatchObject([{ cause: 'counter_drift', count: 2 }])
  await handle()
  expect(await list()).toMatchObject([{ count: 2 }])
  await append('counters_corrected', { ...drift, error: 'it was 9, but there are 2' })
  await handle(seen)
  expect(await list()).toMatchObject([{ count: 3, detail: 'it was 9, but there are 2' }])
  const told = (await work.events()).filter(({ type }) => type.startsWith('alert_')).map(({ type }) => type)
  expect(told).toEqual(['alert_raised', 'alert_repeated'])
})
