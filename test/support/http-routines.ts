import { expect } from 'vitest'
import { planOf } from './http-missions.ts'
import type { Json, Workspace } from './http-workspace.ts'
import { superuser } from './nodes.ts'

/** Routines over HTTP, as short functions. */

export const save = (w: Workspace, body: Json) => w.post('/routines', { name: 'Nightly', ...body })

export async function saved(w: Workspace, body: Json = {}): Promise<Json & { id: string }> {
  const answer = await save(w, { plan: planOf({ tempId: 'a' }), ...body })
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 })
  return answer.body
}

export const show = async (w: Workspace, { id }: Json) => (await w.call('GET', `/routines/${id}`)).body
export const run = (w: Workspace, { id }: Json, variables?: Json) =>
  w.post(`/routines/${id}/run`, variables && { variables })
export const runsOf = async (w: Workspace, { id }: Json, query = '') =>
  (await w.call('GET', `/routines/${id}/runs${query}`)).body

/** Its time came at this moment, and nobody has looked since. */
export const neglect = (databaseUrl: string, { id }: Json, since = Date.now() - 3 * 3_600_000) =>
  superuser(databaseUrl, (client) =>
    client.query(`update baton.routines set next_at = $2 where uuid = $1`, [id, new Date(since)]),
  )
