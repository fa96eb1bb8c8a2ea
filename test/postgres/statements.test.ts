import pg from 'pg'
import { expect, test } from 'vitest'
import { useNodes } from '../support/nodes.ts'
import { holder, newTask, type Work } from '../support/tasks.ts'

/** What is sent to the database counts as much as what it does: a request for the next task is the one that fleets send most. */

const nodes = useNodes('postgres')

/**
 * The names of the statements that are sent meanwhile for this workspace, without the form of those over rows. Other
 * workspaces may be busy in this very process.
 */
async function sentBy({ workspace }: Work, act: () => Promise<unknown>): Promise<string[]> {
  const { query } = pg.Client.prototype
  const transactions = new Map<pg.Client, { names: string[]; isOurs: boolean }>()
  const names: string[] = []
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const { name, values } = args[0] as { name?: string; values?: unknown[] }
    if (name === 'begin') transactions.set(this, { names: [], isOurs: false })
    const transaction = transactions.get(this)
    if (name && transaction) {
      transaction.names.push(name.replace(/_[0-9a-z]*[0-9][0-9a-z]*$/, ''))
      if (name === 'name_workspace') transaction.isOurs = values![0] === String(workspace)
      if ((name === 'commit' || name === 'rollback') && transaction.isOurs) names.push(...transaction.names)
    }
    return Reflect.apply(query, this, args)
  } as never
  try {
    await act()
  } finally {
    pg.Client.prototype.query = query
  }
  return names
}

test('a request for the next task sends eight statements, and its answer has the details', async () => {
  const work = await nodes.work()
  await work.createAll([newTask(), newTask()])
  await work.next(holder('alpha'))
  let reply: unknown
  const sent = await sentBy(work, async () => {
    reply = await work.next(holder('alpha'))
  })
  expect(sent).toEqual([
    'begin',
    'name_workspace',
    'lock_waiting',
    'workspace_state_for_claims',
    'update_tasks_claimed',
    'details_of',
    'append_events_of_claims',
    'commit',
  ])
  const details = { title: 'Fix login', dependsOn: [], project: null }
  expect(reply).toMatchObject({ reason: 'GRANTED', claims: [{ details }] })
})

test('where a worker claims, what limits it is locked: in a round trip of its own the first time only', async () => {
  const work = await nodes.work()
  await work.createAll([newTask(), newTask(), newTask()])
  await work.register('worker', 5)
  const lockedBy = async (session: string) => {
    const sent = await sentBy(work, () => work.next({ ...holder('alpha'), session }))
    return sent.filter((name) => name.startsWith('lock_sessions') || name.startsWith('workspace_state'))
  }
  expect(await lockedBy('worker')).toEqual(['workspace_state_for_claims', 'lock_sessions', 'workspace_state'])
  expect(await lockedBy('worker')).toEqual(['lock_sessions', 'workspace_state'])
  expect(await lockedBy('another')).toEqual(['lock_sessions', 'workspace_state'])
  expect(await lockedBy('another')).toEqual(['workspace_state_for_claims'])
})
