import { expect, test } from 'vitest'
import { expectRefusal, fence, type Json } from '../../support/http-workspace.ts'
import { eventually } from '../../support/recovery.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** Results, plans and tasks that wait for an agent which does not come: a person is asked in time, and can decide. */

const { fleet } = useFleets()

const says = (result: unknown) => `console.log(JSON.stringify({ result: ${JSON.stringify(result)} }))`
const PASS = { verdict: 'pass', score: 1, feedback: 'Good.' }
const IN_TIME = { verifyTimeoutSeconds: 1 }

const itemOf = (w: Fleet, about: Json): Promise<Seen> =>
  eventually(async () => {
    const { items } = (await w.call('GET', '/inbox')).body
    return items.find((item: Seen) =>
      Object.entries(about).every(([name, value]) => item.about[name] === value),
    )
  })
const decide = async (w: Fleet, { id, digest }: Seen, decision: string, more: Json = {}) => {
  const answer = await w.post(`/inbox/${id}/answer`, { decision, ...(digest && { digest }), ...more })
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}
const judgedBy = (w: Fleet, verification: Json, more: Json = {}) =>
  w.assign('writer', { verification: { kind: 'agent', ...verification }, ...more })

test('a judge that is paused is not waited for: a person is asked, resumes it, and it judges', async () => {
  const w = await fleet(IN_TIME)
  await w.script('writer', says('a text'))
  await w.script('judge', says(PASS))
  await w.post('/agents/judge/pause')
  const task = await judgedBy(w, { agent: 'judge' })
  const item = await itemOf(w, { taskId: task.id })
  expect(item).toMatchObject({ kind: 'review', reason: 'no_verdict: judge is paused', waitsFor: 'judge' })
  expect(item.actions).toEqual(['approve', 'reject', 'fail', 'verify', 'resume', 'skip', 'cancel'])
  expect((await w.read(task)).verifications).toMatchObject([{ state: 'cancelled' }])
  expect(await decide(w, item, 'resume')).toMatchObject({ state: 'verifying' })
  expect(await w.taskIn(task, 'completed')).toMatchObject({ verifiedBy: 'judge' })
  await w.isIn('judge', 'idle')
})

test('a judge in error is not waited for: another agent judges instead', async () => {
  const w = await fleet(IN_TIME)
  await w.script('writer', says('a text'))
  await w.script('judge', says(PASS), { config: { command: '/no/such/program' } })
  await w.script('other', says(PASS))
  const task = await judgedBy(w, { agent: 'judge' })
  const item = await itemOf(w, { taskId: task.id })
  expect(item).toMatchObject({ reason: 'no_verdict: judge is in error' })
  expect(item.actions).toContain('resume')
  const asBaton = { decision: 'verify', digest: item.digest, agent: 'baton' }
  expectRefusal(await w.post(`/inbox/${item.id}/answer`, asBaton), 403, 'AGENT_RESERVED')
  await decide(w, item, 'verify', { agent: (await w.agent('other')).id })
  expect(await w.taskIn(task, 'completed')).toMatchObject({ verifiedBy: 'other' })
})

test('a mission goes on when a person decides in place of judges that only claim their work themselves', async () => {
  const w = await fleet()
  await w.script('writer', says('a text'))
  await w.put('outsider', { adapterType: 'external' })
  // The time of the task goes before that of the workspace.
  const timeouts = { verifySeconds: 1 }
  const verification = { kind: 'agent' }
  const plan = { tasks: [{ tempId: 'a', title: 'Write', agent: 'writer', verification, timeouts }] }
  const { body: mission } = await w.post('/missions', {
    goal: 'G',
    plan,
    config: { autonomy: 'full_auto' },
  })
  const item = await itemOf(w, { missionId: mission.id })
  expect(item.reason).toBe('no_verdict: nobody took the verification: outsider did not take the verification')
  await decide(w, item, 'approve')
  await eventually(async () => (await w.call('GET', `/missions/${mission.id}`)).body.state === 'completed')
})

test('a judge that is busy is waited for; one that takes other work meanwhile is not', async () => {
  const w = await fleet(IN_TIME)
  await w.script('writer', says('a text'))
  await w.put('judge', { adapterType: 'external' })
  const held = await w.assign('judge')
  const claim = { agent: 'judge', session: 's' }
  await w.post(`/tasks/${held.id}/claim`, claim)
  const task = await judgedBy(w, { agent: 'judge' })
  await w.taskIn(task, 'verifying')
  // Looked at again and again, past its time: the time at which it is due changes.
  const checks = new Set<string>()
  await eventually(async () => checks.add((await w.read(task)).dueAt).size >= 4)
  expect(await w.read(task)).toMatchObject({ state: 'verifying', verifications: [{ state: 'queued' }] })
  await w.post(`/tasks/${held.id}/submit`, { ...fence('s', 1), result: 1 })
  const next = await w.assign('judge')
  expect((await w.post(`/tasks/${next.id}/claim`, claim)).status).toBe(200)
  expect((await itemOf(w, { taskId: task.id })).reason).toContain('judge did not take the verification')
})

test('a plan that its planner does not make reaches the inbox, and another agent or the planner itself makes it', async () => {
  const w = await fleet(IN_TIME)
  const plan = { tasks: [{ tempId: 'a', title: 'Work', agent: 'writer' }] }
  await w.script('writer', says('a text'))
  await w.script('planner', says(plan))
  await w.post('/agents/planner/pause')
  const start = async () =>
    (
      await w.post('/missions', {
        goal: 'G',
        planner: { agent: 'planner' },
        config: { autonomy: 'full_auto' },
      })
    ).body
  const ends = ({ id }: Seen) =>
    eventually(async () => (await w.call('GET', `/missions/${id}`)).body.state === 'completed')
  const first = await start()
  const item = await itemOf(w, { missionId: first.id })
  expect(item).toMatchObject({ kind: 'alert', reason: 'planner is paused', waitsFor: 'planner' })
  expect(item.actions).toEqual(['release', 'resume', 'skip', 'cancel'])
  await decide(w, item, 'resume')
  await ends(first)
  // Nothing asks for anything: the mission has ended.
  expect((await w.call('GET', '/inbox')).body.items).toMatchObject([{ kind: 'finished' }])
  await w.put('outside', { adapterType: 'external' })
  await w.post('/agents/planner/pause')
  const second = await start()
  await w.script('helper', says(plan))
  await decide(w, await itemOf(w, { missionId: second.id }), 'release')
  await ends(second)
})

test('a plan that any planner may make, and none takes, reaches the inbox', async () => {
  const w = await fleet(IN_TIME)
  await w.put('outside', { adapterType: 'external', capabilities: ['planning'] })
  const { body: mission } = await w.post('/missions', { goal: 'G' })
  expect(await itemOf(w, { missionId: mission.id })).toMatchObject({
    ...{ kind: 'alert', reason: 'no agent that makes plans took it', actions: ['skip', 'cancel'] },
  })
})

test('a task reserved for an agent that is paused reaches the inbox, is resumed there, or let go', async () => {
  const w = await fleet(IN_TIME)
  await w.script('writer', says('a text'))
  await w.post('/agents/writer/pause')
  const task = await w.assign('writer')
  const item = await itemOf(w, { taskId: task.id })
  expect(item).toMatchObject({ kind: 'alert', reason: 'writer is paused', waitsFor: 'writer' })
  await decide(w, item, 'resume')
  await w.taskIn(task, 'completed')
})

test('a task that waits for a paused agent is no item before its time, nor while its mission is paused', async () => {
  const w = await fleet()
  await w.script('writer', says('a text'))
  await w.post('/agents/writer/pause')
  await w.assign('writer')
  expect((await w.call('GET', '/inbox')).body.items).toEqual([])
  const plan = { tasks: [{ tempId: 'a', title: 'Write', agent: 'writer' }] }
  const { body: mission } = await w.post('/missions', {
    goal: 'G',
    plan,
    config: { autonomy: 'full_auto' },
  })
  await w.post(`/missions/${mission.id}/pause`)
  expect((await w.call('PATCH', '/limits', { verifyTimeoutSeconds: 1 })).status).toBe(200)
  const items = await eventually(async () => {
    const found = (await w.call('GET', '/inbox')).body.items
    return found.length > 0 && found
  })
  expect(items).toMatchObject([{ kind: 'alert', about: { missionId: null } }])
})

test('people are told by events, by time alone, and when it is over: nobody has to read the inbox', async () => {
  const w = await fleet(IN_TIME)
  await w.script('writer', says('a text'))
  await w.post('/agents/writer/pause')
  const task = await w.assign('writer')
  const [added] = await w.happens('inbox_added')
  expect(added).toMatchObject({
    taskId: task.id,
    payload: { item: { id: `alert:${task.id}`, kind: 'alert', reason: 'writer is paused' } },
  })
  await w.happens('alert_raised')
  const { items } = (await w.call('GET', '/coordinator/logs?level=CRITICAL')).body
  expect(items).toMatchObject([
    {
      event: 'alert_raised',
      message: expect.stringMatching(
        /^A task waits for an agent that does not work \(.+\): writer is paused\.$/,
      ),
    },
  ])
  await w.put('cook', { adapterType: 'external', capabilities: ['cooking'] })
  await w.call('PATCH', `/tasks/${task.id}`, { agent: 'cook' })
  const [closed] = await w.happens('inbox_closed')
  expect(closed!.payload).toEqual({ id: `alert:${task.id}`, because: 'task_updated' })
})

test('an agent that can do what nobody could ends the alert with an event', async () => {
  const w = await fleet(IN_TIME)
  const task = await w.make({ requiredCapabilities: ['cobol'] })
  await w.happens('alert_raised')
  await w.put('old-hand', { adapterType: 'external', capabilities: ['cobol'] })
  await w.happens('task_takable')
  await w.happens('alert_resolved')
  expect((await w.read(task)).awaits).toBeNull()
})
