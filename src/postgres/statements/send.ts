import type pg from 'pg'
import { inOneWrite } from '../connection/in-one-write.ts'
import { asUnavailable } from '../connection/unavailable.ts'
import type { Bound } from './statements.ts'

/**
 * Sends all statements, then awaits all answers; throws the first error of the server, as later ones only follow from it.
 */
export async function send(
  client: pg.PoolClient,
  statements: readonly Bound[],
): Promise<pg.QueryArrayResult[]> {
  const sent = inOneWrite(client, () =>
    statements.map(([statement, values]) => client.query({ ...statement, values, rowMode: 'array' })),
  )
  const settled = await Promise.allSettled(sent)
  return settled.map((outcome) => {
    if (outcome.status === 'rejected') throw asUnavailable(outcome.reason)
    return outcome.value
  })
}
