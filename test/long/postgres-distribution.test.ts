import { inject, test } from 'vitest'
import { useAnotherPostgres } from '../support/on-another-postgres.ts'

const { postgres } = inject('distribution')

if (postgres) {
  await useAnotherPostgres(postgres)
  await import('./on-this-postgres.ts')
} else {
  test.skip('the distribution has no PostgreSQL')
}
