import { z } from 'zod'
import { INBOX_KINDS } from '../../kinds/task/rules/waiting.ts'
import { WAITING_WORDS } from '../../pure/code-words.ts'
import { eventsAbout, text } from '../../pure/event.ts'
import { why } from '../../pure/words.ts'

const event = eventsAbout({ entity: null }, {})

export const inboxEvents = {
  /** Something waits for a person. Its title, and how much it blocks, are read with the inbox. */
  inbox_added: event.info(
    {
      item: z.object({
        id: text,
        kind: z.enum(INBOX_KINDS),
        agent: text.nullable(),
        reason: text.nullable(),
        since: z.number(),
        generation: z.int().nullable(),
        digest: text.nullable(),
      }),
    },
    ({ item: { kind, reason } }) => `${WAITING_WORDS[kind]}${reason === kind ? '' : why(reason)}.`,
  ),
  /** It waits no more, because of the event of this type. */
  inbox_closed: event.info({ id: text, because: text }, () => 'It waits for a person no more.'),
}

type InboxEvents = typeof inboxEvents
declare module '../../kinds/events.ts' {
  interface Catalogue extends InboxEvents {}
}
