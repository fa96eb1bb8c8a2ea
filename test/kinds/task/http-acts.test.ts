import { describe, expect, test } from 'vitest'
import {
  type Act,
  acts,
  actsFor,
  columnsAfter,
  isAllowed,
  mayBeDone,
  statesFor,
} from '../../../src/kinds/task/rules/allowed-acts.ts'
import { taskStates } from '../../../src/pure/states.ts'
import { BOARD_COLUMNS } from '../../../src/views/board/columns.ts'
import { TASK_ACTS } from '../../../src/views/board/shapes.ts'
import { take } from '../../support/http-missions.ts'
import {
  fence,
  inState,
  type Json,
  type Task,
  useServer,
  type Workspace,
} from '../../support/http-workspace.ts'

/** What people may do to a task: the table that pages use, against what the server really does. */

const { workspace } = useServer()
const first = fence('s-alpha', 1)

/** A task of every state there is, as far as a person or an agent can bring one there. */
const made: Record<string, (w: Workspace) => Promise<Task>> = {
  ...inState,
  verifying: async (w) => {
    // Somebody else who could judge it.
    await w.call('PUT', '/agents/rev', { coordinatorEnabled: false })
    const task = await w.held({ verification: { kind: 'agent' } })
    await w.on(task, 'submit', { ...first, result: 1 })
    return task
  },
  asking: async (w) => {
    const task = await w.held()
    await w.on(task, 'ask', { ...first, question: 'Which one?' })
    return task
  },
}

const BODIES: Partial<Record<Act, Json>> = {
  answer: { answer: 'yes' },
  complete: { result: 2 },
  skip: { reason: 'no' },
}

function request(w: Workspace, act: Act, { id }: Task) {
  if (act === 'priority') return w.call('PATCH', `/tasks/${id}`, { priority: 9 })
  if (act === 'type') return w.call('PATCH', `/tasks/${id}`, { taskType: 'docs' })
  if (act === 'tags') return w.call('PATCH', `/tasks/${id}`, { tags: ['new'] })
  if (act === 'agent') return w.call('PATCH', `/tasks/${id}`, { agent: 'beta' })
  return w.post(`/tasks/${id}/${act}`, BODIES[act] ?? {})
}

const cardOf = async (w: Workspace, { id }: Task) =>
  (await w.post('/tasks/cards', { ids: [id] })).body.items[0]

/** Its column on the board; nothing: it is no longer on the board. */
const columnsOf = async (w: Workspace, { id }: Task) => {
  const { columns } = (await w.call('GET', '/board?limit=1000')).body
  return BOARD_COLUMNS.filter((name) => columns[name].items.some((card: Json) => card.id === id))
}
/** After a rejection a task is due at once: Baton may have queued it before its column is read. */
const columnsOfRejected = async (w: Workspace, task: Task) =>
  (await columnsOf(w, task)).map((name) => (name === 'inbox' ? 'assigned' : name))

const ONE_BY_ONE = acts.filter((act) => act !== 'promote')

describe('an act is possible where the table says so, and leads where it says', () => {
  test('every state can be tried', () => {
    expect(Object.keys(made).sort()).toEqual([...taskStates, 'asking'].sort())
    expect(acts).toEqual(expect.arrayContaining([...TASK_ACTS]))
  })

  test.each(Object.keys(made))('%s', async (state) => {
    const w = await workspace({ maxConcurrentClaims: 1_000 })
    for (const act of ONE_BY_ONE) {
      const task = await made[state]!(w)
      const card = await cardOf(w, task)
      expect(card.state).toBe(state === 'asking' ? 'awaiting_human' : state)
      const answer = await request(w, act, task)
      // To pause or cancel twice is one request, repeated.
      const isRepeated =
        (act === 'pause' && state === 'paused') || (act === 'cancel' && state === 'cancelled')
      expect([act, answer.status], answer.body.detail).toEqual([
        act,
        mayBeDone(act, card) || isRepeated ? 200 : 409,
      ])
      expect(actsFor(card).includes(act)).toBe(mayBeDone(act, card))
      const columns =
        act === 'reject' && answer.status === 200
          ? await columnsOfRejected(w, task)
          : await columnsOf(w, task)
      if (answer.status !== 200 || isRepeated) expect([act, columns]).toEqual([act, [card.board]])
      else if (act === 'archive') expect([act, columns]).toEqual([act, []])
      else expect([act, columnsAfter(act, card.state)]).toEqual([act, expect.arrayContaining(columns)])
      if (mayBeDone(act, card)) expect(isAllowed(act, card.state)).toBe(true)
    }
  })

  test('a result that came too late is promoted from any state', async () => {
    const w = await workspace()
    const task = await w.held()
    await w.on(task, 'release', first)
    await take(w, 'beta')
    expect((await w.on(task, 'submit', { ...first, result: 'late' })).status).toBe(409)
    const { items } = await w.read(task, '/results')
    const { status } = await w.on(task, `results/${items[0].workProductRef}/promote`)
    expect(status).toBe(200)
    expect(await columnsOf(w, task)).toEqual(columnsAfter('promote', 'assigned'))
    expect(statesFor('promote')).toEqual(taskStates)
  })

  test('what was rejected is tried again, or has failed', async () => {
    const w = await workspace()
    const judged = async (maxRetries: number) => {
      const task = await w.held({ verification: { kind: 'human' }, maxRetries })
      await w.on(task, 'submit', { ...first, result: 1 })
      await w.on(task, 'reject', { comment: 'no' })
      return columnsOfRejected(w, task)
    }
    const reached = [...(await judged(1)), ...(await judged(0))]
    expect(reached).toEqual(['assigned', 'done'])
    expect(columnsAfter('reject', 'awaiting_human')).toEqual(reached)
  })
})
