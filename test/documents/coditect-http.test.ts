import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { TASK_STATES, type TaskState } from '../../src/pure/states.ts'
import { type Baton, start } from '../../src/start.ts'
import type { Answer, CoditectDriver, TaskRef } from '../support/coditect-driver.ts'
import { SCENARIOS } from '../support/coditect-scenarios.ts'
import { freshDatabase } from '../support/database.ts'
import { superuser, until } from '../support/nodes.ts'
import { cuttableConnectionTo } from '../support/proxy.ts'
import type { Hold } from '../support/tasks.ts'

/** Coditect's scenarios through the whole server: requests over HTTP, upkeep that ends leases, a real database. */

type Json = Record<string, unknown>
const LONG_LEASE_SECONDS = 300
const END_LEASE = `
  update baton.tasks set lease_expires_at = clock_timestamp(), check_at = clock_timestamp() where uuid = $1`

async function httpDriver(): Promise<CoditectDriver & { close(): Promise<void> }> {
  const database = await freshDatabase()
  const connection = await cuttableConnectionTo(database.url)
  const folder = mkdtempSync(join(tmpdir(), 'baton-coditect-'))
  const env = { BATON_DATA: folder, BATON_PORT: '0', DATABASE_URL: connection.url, BATON_LOG_LEVEL: 'silent' }
  let baton: Baton = await start(readConfig(env))
  const ownerKey = readFileSync(join(folder, 'owner-key'), 'utf8').trim()
  let key = ownerKey

  async function call(method: string, path: string, body?: Json, idempotencyKey?: string): Promise<Answer> {
    const response = await fetch(`${baton.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...(idempotencyKey ? { 'idempotency-key': idempotencyKey } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { ok: response.ok, ...((await response.json()) as Json) }
  }
  const on = (task: TaskRef, act: string, body: Json = {}, idempotencyKey?: string) =>
    call('POST', `/tasks/${task.uuid}/${act}`, body, idempotencyKey)
  const held =
    (act: string) =>
    (task: TaskRef, { session, generation }: Hold) =>
      on(task, act, { session, generation })
  const read = (task: TaskRef, what = '') => call('GET', `/tasks/${task.uuid}${what}`)
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an item is the driver's business below
  const list = async (task: TaskRef, what: string) => (await read(task, what)).items as any[]

  return {
    async begin() {
      key = ownerKey
      key = (await call('POST', '/workspaces', { name: 'coditect' })).ownerKey as string
    },
    at: async () => undefined,
    async newTask(name, after = []) {
      const task = { title: name, key: name, dependsOn: after.map(({ uuid }) => uuid) }
      return { uuid: (await call('POST', '/tasks', task)).id as string }
    },
    claim: (task, { agent, session }, { idempotencyKey } = {}) =>
      on(task, 'claim', { agent, session, leaseSeconds: LONG_LEASE_SECONDS }, idempotencyKey),
    start: held('start'),
    renew: held('renew'),
    release: held('release'),
    submit: (task, { session, generation }, result) => on(task, 'submit', { session, generation, result }),
    reset: (task) => on(task, 'reset'),
    async letLeaseExpire({ uuid }) {
      // The clock cannot be moved, and a lease cannot be shortened from outside: so its end is moved into the past.
      await superuser(database.url, (client) => client.query(END_LEASE, [uuid]))
      await until(async () => (await read({ uuid })).holder === null)
    },
    async dependenciesMoved(task) {
      const upstream: { state: TaskState }[] = await list(task, '/dependencies')
      if (upstream.every(({ state }) => TASK_STATES[state].type === 'terminal'))
        await until(async () => (await read(task)).state !== 'pending')
    },
    async state(task) {
      const { state, generation } = await read(task)
      return { state: state as string, generation: generation as number }
    },
    claims: async (task) =>
      (await list(task, '/claims')).map(({ generation, agent, session, state, releaseReason }) => ({
        generation,
        agent,
        session,
        state,
        endReason: releaseReason,
      })),
    results: async (task) =>
      (await list(task, '/results')).map(({ generation, session, accepted, rejectionReason, result }) => ({
        generation,
        session,
        accepted,
        rejection: rejectionReason,
        data: result,
      })),
    log: async (task) =>
      (await list(task, '/events')).map((event) => ({ ...event, at: Date.parse(event.at) })),
    async restart() {
      await baton.stop()
      baton = await start(readConfig(env))
    },
    async whileDatabaseIsUnreachable(act) {
      connection.cut()
      await act().finally(connection.restore)
    },
    async close() {
      await baton.stop()
      await connection.close()
      await database.drop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

let coordinator: Awaited<ReturnType<typeof httpDriver>>
beforeAll(async () => {
  coordinator = await httpDriver()
})
afterAll(() => coordinator.close())
beforeEach(() => coordinator.begin())

describe.each(Object.entries(SCENARIOS))('Coditect over HTTP, %s', (_section, scenarios) => {
  test.each(Object.entries(scenarios))('%s', (_scenario, play) => play(coordinator))
})
