import { CATALOGUE } from './all.ts'
import type { Catalogue, EventType } from './events.ts'

export const eventTypes = Object.keys(CATALOGUE) as EventType[]

/** The schema for the payload of each type. */
export const EVENTS = Object.fromEntries(
  eventTypes.map((type) => [type, CATALOGUE[type].payload]),
) as unknown as { readonly [T in EventType]: Catalogue[T]['payload'] }
