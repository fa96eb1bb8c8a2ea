import { z } from 'zod'
import { withBlanks } from '../../pure/code-words.ts'
import { eventsAbout, text } from '../../pure/event.ts'

const event = eventsAbout({ entity: 'workspace' }, { cause: text })

export const thresholdEvents = {
  threshold_changed: event.info(
    { value: z.int(), isOn: z.boolean() },
    ({ cause, value, isOn }) =>
      `The threshold for the alert "${withBlanks(cause)}" is ${value}${isOn ? '' : ', and raises none'}.`,
  ),
  threshold_removed: event.info(
    {},
    ({ cause }) => `The threshold for the alert "${withBlanks(cause)}" is no longer set by this workspace.`,
  ),
}

type ThresholdEvents = typeof thresholdEvents
declare module '../events.ts' {
  interface Catalogue extends ThresholdEvents {}
}
