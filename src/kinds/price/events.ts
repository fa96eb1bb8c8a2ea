import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'
import { brief } from '../../pure/words.ts'

const event = eventsAbout({ entity: 'workspace' }, { model: text })
const rates = {
  input: text,
  cachedInput: text,
  cacheWrite: text.nullable(),
  cacheWrite1h: text.nullable(),
  output: text,
}

export const priceEvents = {
  price_changed: event.info(
    { ...rates, longContext: z.object({ fromTokens: z.int(), ...rates }).nullable() },
    ({ model, input, output }) =>
      `The price of ${brief(model)} is $${input} for a million tokens of input, and $${output} of output.`,
  ),
  price_removed: event.info(
    {},
    ({ model }) => `The price of ${brief(model)} is no longer set by this workspace.`,
  ),
}

type PriceEvents = typeof priceEvents
declare module '../events.ts' {
  interface Catalogue extends PriceEvents {}
}
