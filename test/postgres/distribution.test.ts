import { inject, test } from 'vitest'
import { useAnotherPostgres } from '../support/on-another-postgres.ts'

const { postgres } = inject('distribution')

/** The closest tests of Postgres, once more on the distribution's, with its defaults; all of them: test/long/postgres-distribution.test.ts. */
if (postgres) {
  await useAnotherPostgres(postgres)
  await import('./settings.test.ts')
  await import('./owner.test.ts')
  await import('../kinds/task/store-claims.test.ts')
} else {
  test.skip('the distribution has no PostgreSQL')
}
