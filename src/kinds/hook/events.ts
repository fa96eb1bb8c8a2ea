import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { brief, list } from '../../pure/words.ts'

const event = eventsAbout({ entity: 'hook', namedIn: 'hookId' }, { hookId: text, name: text })

export const hookEvents = {
  hook_created: event.info(
    { scheme: text, does: text },
    ({ name }) => `The hook "${brief(name)}" was created.`,
  ),
  hook_updated: event.info(
    { fields: z.array(text), enabled: z.boolean() },
    ({ name, fields }) => `The hook "${brief(name)}" was updated: ${list(fields)}.`,
  ),
  hook_secret_rotated: event.info({}, ({ name }) => `The hook "${brief(name)}" has a new secret.`),
  hook_removed: event.info({}, ({ name }) => `The hook "${brief(name)}" was removed.`),
}

type HookEvents = typeof hookEvents
declare module '../events.ts' {
  interface Catalogue extends HookEvents {}
}
