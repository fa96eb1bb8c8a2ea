import { inject, test } from 'vitest'
import { useAnotherPostgres } from './support/on-another-postgres.ts'

const { postgres } = inject('distribution')

/** The closest tests of Postgres, once more on the distribution's, with its defaults; all of them: test/long/postgres-distribution.test.ts. */
if (postgres) {
  await useAnotherPostgres(postgres)
  await import('./postgres-settings.test.ts')
  await import('./postgres-owner.test.ts')
  await import('./postgres-tenancy.test.ts')
  await import('./postgres-two-nodes.test.ts')
  await import('./conformance-claims.test.ts')
} else {
  test.skip('the distribution has no PostgreSQL')
}
