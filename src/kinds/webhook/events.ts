import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { brief, list } from '../../pure/words.ts'
import { DISABLED_BECAUSE } from './record.ts'

const event = eventsAbout({ entity: 'webhook', namedIn: 'webhookId' }, { webhookId: text, name: text })

const WHY = {
  gone: 'its receiver says that it is gone',
  failing: 'nothing has arrived for five days',
}

export const webhookEvents = {
  webhook_created: event.info(
    { events: z.array(text), format: text },
    ({ name, events }) => `The webhook "${brief(name)}" was added, for ${list(events)}.`,
  ),
  webhook_updated: event.info(
    { fields: z.array(text) },
    ({ name, fields }) => `The webhook "${brief(name)}" was changed: ${list(fields)}.`,
  ),
  webhook_rotated: event.info({}, ({ name }) => `The webhook "${brief(name)}" got a new key.`),
  webhook_paused: event.info({}, ({ name }) => `The webhook "${brief(name)}" was paused.`),
  webhook_resumed: event.info({}, ({ name }) => `The webhook "${brief(name)}" was resumed.`),
  webhook_disabled: event.error(
    { because: z.enum(DISABLED_BECAUSE) },
    ({ name, because }) => `The webhook "${brief(name)}" was disabled: ${WHY[because]}.`,
  ),
  webhook_redelivered: event.info(
    { count: z.int() },
    ({ name, count }) =>
      `The webhook "${brief(name)}" is sent ${count === 1 ? 'one delivery' : `${count} deliveries`} again.`,
  ),
  webhook_removed: event.info({}, ({ name }) => `The webhook "${brief(name)}" was removed.`),
}

type WebhookEvents = typeof webhookEvents
declare module '../events.ts' {
  interface Catalogue extends WebhookEvents {}
}
