import { Combiner } from '../../src/kernel/combiner.ts'
import { earlier } from './nodes.ts'
import type { Work } from './tasks.ts'

/** The same work, done that long ago. */
export const ago = (work: Work, ms: number) => work.through(new Combiner(earlier(work.store, ms)))
/** The same work, done when that much time will have passed. */
export const later = (work: Work, ms: number) => ago(work, -ms)
