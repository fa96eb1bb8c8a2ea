import type { Client } from '../../../src/client/client.ts'
import type { LiveRequests } from '../live/live.ts'
import type { ActRequests } from './acts.ts'

/** What the live layer and acts ask of the server. */

const MOST_EVENTS = '200'

export const liveRequests = (client: Client): LiveRequests => ({
  session: () => client.get('/session'),
  ticket: async () => (await client.post('/session/ticket')).ticket,
  events: (after) => client.get('/events', { query: { after: String(after), limit: MOST_EVENTS } }),
  readBoard: (query) => client.get('/board', { query }),
  readCards: async (ids) => (await client.readPost('/tasks/cards', { body: { ids: [...ids] } })).body,
})

export const actRequests = (client: Client): ActRequests => ({
  actOnMany: (body, idempotencyKey) => client.post('/tasks/act', { body, idempotencyKey }),
  judge: (id, decision, body, idempotencyKey) =>
    client.post(`/tasks/:id/${decision}`, { params: { id }, body, idempotencyKey }),
  startOver: (id, body, idempotencyKey) =>
    client.post('/tasks/:id/retry', { params: { id }, body, idempotencyKey }),
})
