import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { count, holding, span, why } from '../../pure/words.ts'

const event = eventsAbout({ entity: 'session', namedIn: 'session' }, { session: text })

export const sessionEvents = {
  session_started: event.debug({}, ({ session }) => `The session ${session} started.`),
  session_ended: event.debug(
    { reason: text },
    ({ session, reason }) => `The session ${session} ended${why(reason)}.`,
  ),
  worker_registered: event.info(
    { capacity: z.int(), capabilities: z.array(text) },
    ({ session, capacity }) =>
      `The worker ${session} was registered; it can hold ${count(capacity, 'task')}.`,
  ),
  worker_draining: event.info(
    {},
    ({ session }) => `The worker ${session} is draining and takes no new work.`,
  ),
  worker_lost: event.warn(
    { silentMs: z.number(), claims: z.int() },
    ({ session, silentMs, claims }) =>
      `The worker ${session} was silent for ${span(silentMs)} and is lost${holding(claims)}.`,
  ),
}

type SessionEvents = typeof sessionEvents
declare module '../events.ts' {
  interface Catalogue extends SessionEvents {}
}
