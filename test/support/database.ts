import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { findDatabase } from '../../src/postgres/connection/database.ts'
import { migrate } from '../../src/store/migrate.ts'
import { SERVER_ROLE } from '../../src/store/store.ts'

export interface TestDatabase {
  /** A superuser's, as an operator's may be. */
  url: string
  drop(): Promise<void>
}

const TEMPLATE = 'set_up'
let another: string | null = null

/** As a superuser, to the Postgres of the test run, or to the one that this file makes its databases on. */
export const serverUrl = (): string => another ?? inject('postgresUrl')

/** From now on, in this file, on a server that has a template. */
export const makeDatabasesOn = (url: string): void => {
  another = url
}

/** Sets up one database on this server, from which the others are copied. */
export async function makeTemplate(url: string): Promise<void> {
  await runOn(url, `create database ${TEMPLATE}`)
  await migrate(await findDatabase(urlOf(url, TEMPLATE)), SERVER_ROLE)
}

/** A fresh database with Baton's tables in it and nothing in them. */
export const freshDatabase = (): Promise<TestDatabase> => emptyDatabase(`template ${TEMPLATE}`)

/** A fresh database with nothing in it, as an operator makes one. */
export async function emptyDatabase(options = ''): Promise<TestDatabase> {
  const server = serverUrl()
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runOn(server, `create database ${name} ${options}`)
  return { url: urlOf(server, name), drop: () => runOn(server, `drop database ${name} with (force)`) }
}

function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function runOn(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
