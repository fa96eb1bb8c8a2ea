import { z } from 'zod'
import { actorWords } from '../../pure/code-words.ts'
import { eventsAbout, text } from '../../pure/event.ts'

const event = eventsAbout({ entity: null }, {})

export const reportEvents = {
  /** On a mission or on one of its tasks; `kind` is its type. */
  report_written: event.info(
    {
      missionId: text,
      taskId: text.optional(),
      reportId: text,
      version: z.int(),
      kind: text,
      source: text,
      author: text,
    },
    ({ taskId, version, author }) =>
      `Version ${version} of the report on the ${taskId === undefined ? 'mission' : 'task'} was written by ${actorWords(author)}.`,
  ),
}

type ReportEvents = typeof reportEvents
declare module '../events.ts' {
  interface Catalogue extends ReportEvents {}
}
