import { afterAll } from 'vitest'
import { useAnotherPostgres } from '../support/on-another-postgres.ts'
import { fetchPostgres } from '../support/servers/npm-postgres.ts'

/** Everything about Postgres once more on this version of it. */
export async function runOnPostgres(major: 15 | 16 | 17): Promise<void> {
  const { bin, remove } = await fetchPostgres(major)
  afterAll(remove)
  await useAnotherPostgres(bin, { initdb: [] })
  await import('./on-this-postgres.ts')
}
