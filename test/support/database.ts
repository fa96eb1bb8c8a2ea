import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { migrate } from '../../src/store/postgres/migrate.ts'
import { SERVER_ROLE } from '../../src/store/postgres/store.ts'

export interface TestDatabase {
  /** A superuser's, as an operator's may be. */
  url: string
  drop(): Promise<void>
}

const TEMPLATE = 'set_up'

/** Sets up one database for the whole run, from which the others are copied. */
export async function makeTemplate(serverUrl: string): Promise<void> {
  await runOn(serverUrl, `create database ${TEMPLATE}`)
  await migrate(urlOf(serverUrl, TEMPLATE), SERVER_ROLE)
}

/** A fresh database with Baton's tables in it, and nothing in them. */
export const freshDatabase = (): Promise<TestDatabase> => create(`template ${TEMPLATE}`)

/** A fresh database with nothing in it, as an operator makes one. */
export const emptyDatabase = (): Promise<TestDatabase> => create('')

async function create(options: string): Promise<TestDatabase> {
  const serverUrl = inject('postgresUrl')
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await runOn(serverUrl, `create database ${name} ${options}`)
  return {
    url: urlOf(serverUrl, name),
    drop: () => runOn(serverUrl, `drop database ${name} with (force)`),
  }
}

function urlOf(serverUrl: string, database: string): string {
  const url = new URL(serverUrl)
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
