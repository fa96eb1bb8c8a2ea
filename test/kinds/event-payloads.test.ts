import { describe, expect, test } from 'vitest'
import { EVENTS } from '../../src/kinds/catalogue.ts'
import type { EventDraft } from '../../src/kinds/events.ts'
import { workProductRef } from '../../src/kinds/task/rules/task-keys.ts'
import { readPayload, storedPayload } from '../../src/postgres/statements/event-payloads.ts'

const ID = '01a1e5a5-b3fb-7846-9530-000000000001'
const KEY = 'AUTH.12'

type Written = Pick<EventDraft, 'type' | 'actor' | 'generation' | 'payload'>

const assigned = (actor: string, rest: object = {}): Written => ({
  type: 'task_assigned',
  actor,
  generation: 2,
  payload: { agent: 'ada', session: 'ada', leaseMs: 300_000, attempt: 1, previousState: null, ...rest },
})
const completed = (task: string, rest: object = {}): Written => ({
  type: 'task_completed',
  actor: 'agent:ada',
  generation: 2,
  payload: {
    agent: 'ada',
    session: 's-1',
    workProductRef: workProductRef(task, 2, 'abcdef01'),
    late: false,
    ...rest,
  },
})
const created = (rest: object = {}): Written => ({
  type: 'task_created',
  actor: 'queue',
  generation: 0,
  payload: { title: 'one', taskType: 'other', priority: 5, dependsOn: [], ...rest },
})

const throughTheTable = (event: Written) => JSON.parse(JSON.stringify(storedPayload(event)))

describe('payloads in the log of Postgres', () => {
  test.each<[string, Written, string]>([
    ['an assignment to a caller', assigned('agent:ada'), ID],
    ['an assignment by the coordinator', assigned('coordinator'), ID],
    ['an assignment under another session', assigned('agent:ada', { session: 'agent:ada' }), ID],
    ['an assignment after a wait', assigned('agent:ada', { previousState: 'awaiting_retry' }), ID],
    ['an agent whose name has the prefix', assigned('agent:agent:b', { agent: 'agent:b', session: 'x' }), ID],
    ['a result', completed(ID), ID],
    ['a result of a task with a key', completed(KEY), KEY],
    ['a late result', completed(ID, { late: true }), ID],
    ['a result of a run', completed(ID, { runId: 'r', model: null, tokens: 3, costUsd: '0.1' }), ID],
    [
      'a result of an earlier generation',
      completed(ID, { workProductRef: workProductRef(ID, 1, 'abcdef01') }),
      ID,
    ],
    [
      'a generation that ends like another one',
      completed(ID, { workProductRef: workProductRef(ID, 12, 'abcdef01') }),
      ID,
    ],
    ['an assignment of another length', assigned('agent:ada', { leaseMs: 1_000, attempt: 2 }), ID],
    ['a task', created(), ID],
    ['an urgent task of a type', created({ priority: 10, taskType: 'code' }), ID],
    ['a task that depends on others', created({ dependsOn: [ID], triggerRule: 'all_done' }), ID],
    [
      'another event',
      { type: 'task_paused', actor: 'agent:ada', generation: 1, payload: { reason: null } },
      ID,
    ],
  ])('%s is read as it was written', (_, event, task) => {
    const read = readPayload(event, throughTheTable(event), task)
    expect(read).toEqual(event.payload)
    expect(EVENTS[event.type].safeParse(read).success).toBe(true)
  })

  test('what its row says, and what is usual, is not stored', () => {
    expect(throughTheTable(assigned('agent:ada'))).toEqual({})
    expect(throughTheTable(completed(ID))).toEqual({ session: 's-1', hash: 'abcdef' })
    expect(throughTheTable(created())).toEqual({ title: 'one' })
  })

  test.each([assigned('agent:ada'), completed(ID), created()])(
    'a whole payload is read, too: $type',
    (event) => {
      expect(readPayload(event, event.payload, ID)).toEqual(event.payload)
    },
  )
})
