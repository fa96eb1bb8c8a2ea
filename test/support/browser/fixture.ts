import { expect } from 'vitest'
import { FULL_AUTO, makeMission } from '../http-missions.ts'
import { inState, type Json, type Task, type Workspace } from '../http-workspace.ts'
import { until } from '../nodes.ts'

/** Where one of each kind is shown. */
export interface Filled {
  taskId: string
  runId: string
  missionId: string
  agent: string
}

/** What people and agents write. Each field is shown somewhere. */
export interface Words {
  title: string
  /** Longer than a title may be. */
  text: string
  /** What an agent prints. */
  output: string
}

const PLAIN: Words = {
  title: 'Fix the login form',
  text: 'The button does nothing. **Why** is not known.',
  output: 'PASS test/login.test.ts',
}

/** Not in the middle of a character: half of one cannot be stored. */
const upTo = (length: number, text: string) => text.slice(0, length).toWellFormed()

/** One of everything: tasks in each state, a run that ended, a question, a result and a plan that wait for a person. */
export async function fillWorkspace(w: Workspace, words: Words = PLAIN): Promise<Filled> {
  for (const make of Object.values(inState)) await make(w)
  const agent = 'dev-1'
  await hire(w, agent, words, [
    { status: upTo(200, words.title), color: 'blue' },
    { progress: 40, step: words.title },
    { call: upTo(10_000, words.text) },
    { call: 'npm test', isError: true },
    { usage: { inputTokens: 48_000, cachedInputTokens: 31_000, outputTokens: 6_000 } },
    { say: words.output },
    { result: { text: words.text }, summary: upTo(10_000, words.text) },
  ])
  await hire(w, 'dev-2', words, [{ ask: upTo(2_000, words.text), options: ['yes', upTo(200, words.title)] }])
  const missionId = await proposeMission(w, words)
  const worked = await w.make({
    title: words.title,
    description: words.text,
    tags: [upTo(100, words.title)],
    agent,
    verification: { kind: 'human' },
  })
  expect((await w.post(`/tasks/${worked.id}/comments`, { text: words.text })).status).toBe(201)
  const asked = await w.make({ title: words.title, agent: 'dev-2' })
  await Promise.all([w.reaches(worked, 'awaiting_human'), w.reaches(asked, 'awaiting_human')])
  return { taskId: worked.id, runId: await finishedRunOf(w, agent, worked), missionId, agent }
}

/** A simulated agent: no model, no program, and the same each time. */
async function hire(w: Workspace, slug: string, { title }: Words, steps: readonly Json[]): Promise<void> {
  const body = { name: upTo(200, title), adapterType: 'simulated', adapterConfig: { steps } }
  expect(await w.call('PUT', `/agents/${slug}`, body)).toMatchObject({ status: 201 })
}

async function proposeMission(w: Workspace, { title, text }: Words): Promise<string> {
  const first = { tempId: 'a', title, description: text }
  const planned = { goal: text, title }
  const { id } = await makeMission(w, [first, { tempId: 'b', dependsOn: ['a'] }], { ...planned, config: {} })
  await makeMission(w, [first], { ...planned, config: FULL_AUTO })
  return String(id)
}

/** It may have taken other tasks before. */
const finishedRunOf = (w: Workspace, agent: string, { id }: Task): Promise<string> =>
  until(async () => {
    const { items } = (await w.call('GET', `/agents/${agent}/runs`)).body
    return items.find((run: Json) => run.taskId === id && run.finishedAt !== null)?.id
  })
