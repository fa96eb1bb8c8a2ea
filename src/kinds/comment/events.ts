import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { why } from '../../pure/words.ts'

const event = eventsAbout({ entity: null }, {})

export const commentEvents = {
  /** On a task or on a mission. The whole text is in the thread. */
  comment_added: event.info(
    {
      missionId: text.optional(),
      commentId: text,
      author: text,
      preview: text,
      isWhole: z.boolean(),
      replyTo: text.nullable(),
      /** Who works on the task was told at once. */
      toHolder: z.boolean().optional(),
    },
    ({ author, preview }) => `${author} commented${why(preview)}.`,
  ),
}

type CommentEvents = typeof commentEvents
declare module '../events.ts' {
  interface Catalogue extends CommentEvents {}
}
