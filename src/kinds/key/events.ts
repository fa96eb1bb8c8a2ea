import { eventsAbout, text } from '../../pure/event.ts'
import { brief } from '../../pure/words.ts'

const event = eventsAbout({ entity: 'key', namedIn: 'keyId' }, { keyId: text, name: text })

export const keyEvents = {
  key_created: event.info(
    { role: text, agent: text.optional() },
    ({ name, role }) => `The key "${brief(name)}" was created (${role}).`,
  ),
  key_revoked: event.info(
    { endedWith: text.nullable() },
    ({ name }) => `The key "${brief(name)}" was revoked.`,
  ),
}

type KeyEvents = typeof keyEvents
declare module '../events.ts' {
  interface Catalogue extends KeyEvents {}
}
