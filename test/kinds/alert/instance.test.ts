import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ServerKernel } from '../../../src/door/server-kernel.ts'
import { StoreUnavailable } from '../../../src/kernel/store/store.ts'
import { settleAlerts } from '../../../src/kinds/alert/acts/look.ts'
import { PassFigures } from '../../../src/kinds/alert/acts/pass-figures.ts'
import { listAlerts } from '../../../src/kinds/alert/postgres/alerts.ts'
import { FIRST_WORKSPACE } from '../../../src/kinds/workspace/postgres.ts'
import { serverDirectory } from '../../../src/store/directory.ts'
import { PostgresStore } from '../../../src/store/store.ts'
import { Coordinator } from '../../../src/upkeep/coordinator.ts'
import { FreeSpace } from '../../../src/upkeep/free-space.ts'
import type { Leadership } from '../../../src/upkeep/leadership.ts'
import { openKernel } from '../../../src/upkeep/open-kernel.ts'
import { type MessageFromMemory, Outages } from '../../../src/upkeep/outages.ts'
import { freshDatabase } from '../../support/database.ts'
import { superuser, until } from '../../support/nodes.ts'

/** Alerts of the instance: they are kept in its first workspace. */

let store: PostgresStore
let kernel: ServerKernel
let url: string
const closing: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  const database = await freshDatabase()
  url = database.url
  store = await PostgresStore.open(url)
  closing.push(
    () => database.drop(),
    () => store.close(),
  )
  await store.workspace('default')
  kernel = openKernel(store, serverDirectory(store))
})
afterAll(async () => {
  for (const close of closing.reverse()) await close()
})
const rows = (text: string, values: unknown[] = []) =>
  superuser(url, async (client) => {
    await client.query('set search_path = baton')
    return (await client.query(text, values)).rows
  })
beforeEach(async () => {
  await rows('delete from alerts')
  await rows('delete from nodes')
})

const open = async () =>
  (await listAlerts(store.readers, FIRST_WORKSPACE, { scope: 'instance' }, 10)).filter(
    ({ resolvedAt }) => resolvedAt === null,
  )
const pass = (figures: PassFigures | null = new PassFigures()) =>
  settleAlerts({ kernel, workspaceId: FIRST_WORKSPACE, instance: { figures } })
const node = (name: string, more: { silent?: string; started?: string; host?: string } = {}) =>
  rows(
    `insert into nodes (workspace_id, node_id, name, pid, version, host, started_at, last_seen_at)
     values (0, $1, $2, 1, '1', $3, now() - $4::interval, now() - $5::interval)`,
    [randomUUID(), name, more.host ?? 'a', more.started ?? '1 hour', more.silent ?? '0'],
  )
const silence = { info: () => undefined, warn: () => undefined, error: () => undefined }

describe('a node', () => {
  test('that is not heard for half a minute is lost, until it is heard again', async () => {
    await node('one')
    await node('two', { silent: '20 seconds' })
    await node('three', { silent: '31 seconds' })
    await pass()
    expect(await open()).toMatchObject([
      { cause: 'node_lost', subject: 'three', scope: 'instance', severity: 'critical' },
    ])
    await rows(`update nodes set last_seen_at = now() where name = 'three'`)
    await pass()
    expect(await open()).toEqual([])
  })

  test('that another one on its machine has replaced is not lost', async () => {
    await node('old', { silent: '5 minutes' })
    await node('elsewhere', { host: 'b', started: '1 minute' })
    await pass()
    expect(await open()).toHaveLength(1)
    await node('new', { started: '1 minute' })
    await pass()
    expect(await open()).toEqual([])
  })

  test('with little room on its disk says so, and says when it has room again, or is gone', async () => {
    await node('one')
    let free = 900
    const space = new FreeSpace({
      ...{ kernel, node: 'one', folder: '/data', leastBytes: 1_000, log: silence },
      freeIn: async () => free,
    })
    await space.check()
    expect(await open()).toMatchObject([{ cause: 'disk_low', subject: 'one', count: 1 }])
    await pass()
    expect(await open(), 'it lives, and has not said that it is over').toHaveLength(1)
    free = 1_050
    await space.check()
    expect(await open(), 'a little more does not end it').toHaveLength(1)
    free = 1_200
    await space.check()
    expect(await open()).toEqual([])
    free = 1
    await space.check()
    await rows(`delete from nodes`)
    await pass()
    expect(await open()).toEqual([])
  })
})

test('a slow pass and failures of the database are told for ten minutes, by the leader alone', async () => {
  const figures = new PassFigures()
  const at = performance.now() - 590_000
  figures.passed(6_000, at)
  figures.passed(10, at + 1_000)
  figures.failed(at)
  await pass(figures)
  expect((await open()).map(({ cause }) => cause).sort()).toEqual(['coordinator_slow', 'database_errors'])
  await pass(null)
  expect(await open(), 'another node does not know').toHaveLength(2)
  expect(figures.now(at + 600_100)).toEqual({ longestPassMs: 10, databaseErrors: 0 })
  figures.now(at + 700_000)
  await pass(figures)
  expect(await open()).toEqual([])
})

test('a database that was away for five minutes is told from memory, and written down when it is back', async () => {
  const sent: MessageFromMemory[] = []
  const logged: string[] = []
  const log = { ...silence, error: (_about: object, message: string) => logged.push(message) }
  const outages = new Outages(kernel, 'one', log, async (message) => {
    sent.push(message)
  })
  let isAway = true
  const leadership = {
    ...{ leaseMs: 15_000, term: null, resign: async () => undefined },
    hold: async () => {
      if (isAway) throw new StoreUnavailable('gone')
      return null
    },
  } as unknown as Leadership
  const coordinator = new Coordinator(kernel, leadership, randomUUID(), log, { outages }).start()
  const clock = vi.spyOn(Date, 'now')
  try {
    await until(async () => coordinator.state().awaySince !== null)
    expect(sent).toEqual([])
    const now = coordinator.state().awaySince! + 301_000
    clock.mockReturnValue(now)
    await until(async () => sent.length > 0)
    expect(sent).toMatchObject([{ alert: 'database_away', severity: 'critical' }])
    expect(logged).toEqual(['the database has been unreachable for five minutes'])
    isAway = false
    const [alert] = await until(async () => {
      const alerts = await open()
      return alerts.length > 0 && alerts
    })
    expect(alert).toMatchObject({ cause: 'database_away', subject: 'one', count: 1 })
    expect(alert!.detail).toContain('for 5 minutes')
  } finally {
    clock.mockRestore()
    await coordinator.stop()
  }
  await rows(
    `update alerts set first_at = first_at - interval '25 hours', last_at = last_at - interval '25 hours'`,
  )
  await pass()
  expect(await open()).toEqual([])
})

test('an outage that ends for a moment is written when the database stays', async () => {
  let isAway = true
  const run: ServerKernel['run'] = (...asked) =>
    isAway ? Promise.reject(new StoreUnavailable('again')) : kernel.run(...asked)
  const outages = new Outages({ store, run } as unknown as ServerKernel, 'one', silence)
  outages.isLong(Date.now() - 400_000)
  await outages.isOver()
  expect(await open()).toEqual([])
  isAway = false
  await outages.isOver()
  await outages.isOver()
  expect(await open()).toMatchObject([{ cause: 'database_away', count: 1 }])
})
