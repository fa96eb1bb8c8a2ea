import { afterAll } from 'vitest'
import { makeDatabasesOn, makeTemplate } from './database.ts'
import { type PostgresSettings, startPrivatePostgres } from './servers/postgres.ts'
import { openStore } from './stores.ts'

/**
 * From here on this file makes its databases on a server of these programs, with their defaults, and its suites run on no
 * other kind of store. Test files that are imported afterwards run there once more.
 */
export async function useAnotherPostgres(bin: string, options?: PostgresSettings): Promise<void> {
  const server = await startPrivatePostgres(bin, options)
  await makeTemplate(server.url)
  makeDatabasesOn(server.url)
  for (const kind of Object.keys(openStore)) if (kind !== 'postgres') Reflect.deleteProperty(openStore, kind)
  afterAll(() => server.stop())
}
