import type { Act } from '../door/door.ts'
import { ALL } from '../kinds/all.ts'

const parts = await Promise.all(Object.values(ALL).map((one) => ('acts' in one ? one.acts() : [])))

/** Every endpoint with its handler, but those that are HTTP itself: sign-in, streams and health. */
export const ALL_ACTS: readonly Act[] = parts.flat()
