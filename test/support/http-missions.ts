import { expect } from 'vitest'
import { fence, type Json, type Workspace } from './http-workspace.ts'

/** Missions over HTTP, as short functions. */

export const FULL_AUTO = { autonomy: 'full_auto' }

export type PlannedTask = { tempId: string; [field: string]: unknown }

/** A plan of these tasks; each is named by its id unless it has a title. */
export const planOf = (...tasks: PlannedTask[]) => ({
  tasks: tasks.map((task) => ({ title: task.tempId, ...task })),
})

export async function makeMission(w: Workspace, tasks: PlannedTask[], body: Json = {}): Promise<Json> {
  const answer = await w.post('/missions', {
    goal: 'Make it work',
    plan: planOf(...tasks),
    config: FULL_AUTO,
    ...body,
  })
  expect(answer).toMatchObject({ status: 201 })
  return answer.body
}

export const showMission = async (w: Workspace, { id }: Json) => (await w.call('GET', `/missions/${id}`)).body
export const actOn = (w: Workspace, { id }: Json, name: string, body: Json = {}) =>
  w.post(`/missions/${id}/${name}`, body)

/** The tasks of a mission by title. */
export async function tasksByTitle(w: Workspace, { id }: Json): Promise<Record<string, Json>> {
  const { items } = (await w.call('GET', `/missions/${id}/tasks?limit=200`)).body
  return Object.fromEntries(items.map((task: Json) => [task.title, task]))
}

/** Their states by title. */
export const statesByTitle = async (w: Workspace, mission: Json): Promise<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(await tasksByTitle(w, mission)).map(([title, { state }]) => [title, state as string]),
  )

export interface Held extends Json {
  taskId: string
  generation: number
  task: Json
}

const LONG_MS = 20_000

const holder = (agent: string) => ({ agent, session: `s-${agent}` })

/** The next task of the queue, held by this agent. It may become ready only now: dependents are counted after the answer. */
export async function take(w: Workspace, agent = 'alpha'): Promise<Held> {
  const { body } = await w.post('/claims/next', { ...holder(agent), waitMs: LONG_MS })
  if (!body.claims?.[0]) throw new Error(`nothing to take: ${JSON.stringify(body)}`)
  return body.claims[0]
}

/** A task by its id, held by this agent. */
export async function claimOne(w: Workspace, { id }: Json, agent = 'alpha'): Promise<Held> {
  const { body } = await w.post(`/tasks/${id}/claim`, holder(agent))
  return { ...body.claim, ...body }
}

export const submit = (
  w: Workspace,
  { taskId, generation }: Json,
  agent = 'alpha',
  result: unknown = 'done',
) => w.post(`/tasks/${taskId}/submit`, { ...fence(`s-${agent}`, Number(generation)), result })

/** Failed for good: another attempt would not help. */
export const failForGood = (w: Workspace, { taskId, generation }: Json, agent = 'alpha') =>
  w.post(`/tasks/${taskId}/fail`, {
    ...fence(`s-${agent}`, Number(generation)),
    failureClass: 'invalid',
    error: 'no',
  })

/** Takes the next task and finishes it; its title, or nothing when none may be taken within this time. */
async function finishNext(w: Workspace, agent: string, waitMs: number): Promise<string | undefined> {
  const { body } = await w.post('/claims/next', { ...holder(agent), waitMs })
  const [claim] = body.claims
  if (!claim) return
  expect(await submit(w, claim, agent)).toMatchObject({ status: 200 })
  return claim.task.title
}

/** Finishes this many tasks, including those made or released while this waits. Returns their titles. */
export async function finish(w: Workspace, count: number, agent = 'alpha'): Promise<(string | undefined)[]> {
  const done = []
  for (let n = 0; n < count; n++) done.push(await finishNext(w, agent, LONG_MS))
  return done
}

/** Finishes tasks until none is open, or none may be taken within this time; their titles. */
export async function workOff(w: Workspace, agent = 'alpha', longestWaitMs = LONG_MS): Promise<string[]> {
  const done: string[] = []
  for (;;) {
    const title =
      (await finishNext(w, agent, 0)) ?? ((await isOpen(w)) && (await finishNext(w, agent, longestWaitMs)))
    if (!title) return done
    done.push(title)
  }
}

const isOpen = async (w: Workspace) =>
  (await w.call('GET', '/tasks?state=queued,pending,awaiting_retry&limit=1')).body.items.length > 0
