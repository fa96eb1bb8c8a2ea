import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scriptOf } from '../../support/clis/runs.ts'
import type { Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type RunsWorkspace, useRunNodes } from '../../support/run-nodes.ts'

/** A mission from its goal to its end, through kill -9 of the only node at every step of it. */

const MINUTES = { timeout: 400_000 }
const nodes = useRunNodes()

const PLAN = {
  strategy: 'write, then check',
  tasks: [
    {
      tempId: 'a',
      title: 'Write it',
      agent: 'writer',
      verification: { kind: 'agent', agent: 'reviewer' },
      successCriteria: 'It is written.',
    },
  ],
}
const VERDICT = { verdict: 'pass', score: 0.9, feedback: 'Fine.', evidence: ['read it'] }

/** Played by the fake Claude, in its recorded format: models wrap what they say in words. */
async function hire(w: RunsWorkspace, slug: string, room: string, says: string) {
  await writeFile(join(room, 'says'), says)
  const env = { FAKE_CLI_HOME: room, HOME: room }
  await w.hire(slug, {
    adapterType: 'claude_local',
    adapterConfig: { command: scriptOf('claude'), env, graceSec: 1 },
  })
}
const fenced = (value: unknown) => `Here it is:\n\n\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`

/** The writes before which the node is killed, in the order of a mission's life. */
const HANDED_IN = `new.type = 'task_output_submitted'`
const APPROVED = `new.type = 'mission_approved'`
const STEPS: readonly string[] = [
  // The plan.
  HANDED_IN,
  `new.type = 'mission_plan_ready'`,
  APPROVED,
  // The work.
  HANDED_IN,
  // The verification is made.
  `new.type = 'task_created'`,
  // The verdict.
  HANDED_IN,
  `new.type = 'mission_completed'`,
]

test(
  'a mission is planned, approved, worked on and verified once, whatever step the node is killed at',
  MINUTES,
  async () => {
    const cluster = await nodes.cluster()
    await cluster.serve()
    const w = await cluster.workspace()
    await hire(w, 'planner', await cluster.room('planner'), fenced(PLAN))
    await hire(w, 'writer', await cluster.room('writer'), 'It is written.')
    await hire(w, 'reviewer', await cluster.room('reviewer'), fenced(VERDICT))
    const body = { goal: 'A text', planner: { agent: 'planner' } }
    const [first, ...rest] = STEPS
    let point = await cluster.faultPoint('events', 'insert', first!)
    const made = await w.post('/missions', body, { 'idempotency-key': 'once' })
    expect(made).toMatchObject({ status: 201, body: { state: 'planning' } })
    const { id } = made.body
    const show = async (): Promise<Json> => (await w.call('GET', `/missions/${id}`)).body
    let killedAt = first!
    let step = first!
    for (const next of [...rest, null]) {
      await point.reached()
      await cluster.kill(cluster.serving)
      await point.lift()
      if (next === null) break
      killedAt = step
      step = next
      // Before the node is back: it continues at once.
      point = await cluster.faultPoint('events', 'insert', next)
      await cluster.serve()
      if (next !== APPROVED && killedAt !== APPROVED) continue
      await eventually(async () => (await show()).state === 'awaiting_approval')
      const approval = w.post(`/missions/${id}/approve`, { planVersion: 1 })
      if (next === APPROVED) void approval.catch(() => null)
      else expect(await approval, 'the one before was not answered').toMatchObject({ status: 200 })
    }
    await cluster.serve()
    await eventually(async () => (await show()).state === 'completed')
    expect(await show()).toMatchObject({
      planVersion: 1,
      approvedVersion: 1,
      taskCount: 1,
      tasksCompleted: 1,
    })
    const tasks = await cluster.rows<{ purpose: string; state: string; count: number }>(
      `select purpose, state, count(*)::int from tasks group by purpose, state order by purpose`,
    )
    expect(tasks).toEqual([
      { purpose: 'planning', state: 'completed', count: 1 },
      { purpose: 'verification', state: 'completed', count: 1 },
      { purpose: 'work', state: 'completed', count: 1 },
    ])
    const events = await cluster.rows<{ type: string; count: number }>(
      `select type, count(*)::int from events where type in ('mission_plan_ready', 'mission_approved', 'mission_completed')
      group by type order by type`,
    )
    expect(events.map(({ count }) => count)).toEqual([1, 1, 1])
    const [task] = (await w.call('GET', `/missions/${id}/tasks`)).body.items
    expect((await w.call('GET', `/tasks/${task.id}`)).body).toMatchObject({
      verifiedBy: 'reviewer',
      verifierScore: 0.9,
      verifications: [{ verdict: 'pass' }],
    })
    // What was answered before a node died was not asked again.
    expect(await w.post('/missions', body, { 'idempotency-key': 'once' })).toMatchObject({ body: { id } })
    await cluster.expectInOrder()
  },
)
