import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { readConfig } from '../../src/config.ts'
import type { Baton } from '../../src/start.ts'
import { start } from '../../src/start.ts'
import { freshDatabase } from './database.ts'

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers as a client would
  body: any
  headers: Headers
}

export interface ServerUnderTest {
  url: string
  api: string
  ownerKey: string
  databaseUrl: string
  dataFolder: string
  /** A request as the owner, or with another key. */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { key?: string; headers?: Record<string, string> },
  ): Promise<Answer>
  close(): Promise<void>
}

type Settings = Record<string, string>
type Pace = Parameters<typeof start>[1]

/** A whole server in this process, on a free port and a database of its own. */
export async function startServer(env: Settings = {}, pace: Pace = {}): Promise<ServerUnderTest> {
  const database = await freshDatabase()
  const server = await startFirst(database.url, env, pace)
  return {
    ...server,
    async close() {
      await server.close()
      await database.drop()
    },
  }
}

/** The first node on this database, which gets the key of its owner. */
export const startFirst = (databaseUrl: string, env: Settings = {}, pace: Pace = {}) =>
  startOn(databaseUrl, env, (folder) => readFileSync(join(folder, 'owner-key'), 'utf8'), pace)

/** Another node on the database of a server. Closed before it. */
export const startAnother = (
  { databaseUrl, ownerKey }: Pick<ServerUnderTest, 'databaseUrl' | 'ownerKey'>,
  env: Settings = {},
  pace: Pace = {},
) => startOn(databaseUrl, env, () => ownerKey, pace)

async function startOn(
  databaseUrl: string,
  env: Settings,
  keyIn: (folder: string) => string,
  pace: Pace = {},
): Promise<ServerUnderTest> {
  const folder = mkdtempSync(join(inject('scratch'), 'server-'))
  const baton: Baton = await start(
    readConfig({
      BATON_DATA: folder,
      BATON_PORT: '0',
      DATABASE_URL: databaseUrl,
      BATON_LOG_LEVEL: 'silent',
      // Tests work in workspaces of their own; what other workspaces may run by default is tested in agents-allowed.
      BATON_AGENT_ADAPTERS: '*',
      // Receivers of tests are on this machine.
      BATON_WEBHOOK_ALLOW: '127.0.0.1',
      // Tests may use wrong keys without limit; those about that set a limit.
      BATON_WRONG_KEYS_PER_MINUTE: '1000000',
      ...env,
    }),
    pace,
  )
  const ownerKey = keyIn(folder).trim()
  const api = `${baton.url}/api/v1`
  return {
    url: baton.url,
    api,
    ownerKey,
    databaseUrl,
    dataFolder: folder,
    call: callsTo(api, ownerKey),
    async close() {
      await baton.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Requests to a server at this address, with this key unless another is given. */
export const callsTo =
  (api: string, ownerKey: string): ServerUnderTest['call'] =>
  async (method, path, body, { key = ownerKey, headers = {} } = {}) => {
    const response = await fetch(`${api}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : JSON.parse(text),
    }
  }
