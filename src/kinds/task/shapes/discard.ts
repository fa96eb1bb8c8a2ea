import { z } from 'zod'
import { Generation, ShortText, Uuid } from '../../../pure/shapes.ts'

/** Work of a task that nobody wants to keep. */

export const DiscardBody = z.strictObject({
  generation: Generation.min(1).optional().describe('Without it: all generations'),
  comment: ShortText.optional(),
})

export const DiscardAnswer = z.object({
  taskId: Uuid,
  generations: z.array(z.int()).describe('Whose work was removed; empty: there was none left'),
  branches: z
    .array(z.string())
    .describe('The names of the refs that were removed: branches, and what was saved beside them'),
  folders: z.int().describe('How many folders were removed'),
  elsewhere: z
    .array(z.object({ node: z.string().nullable(), generations: z.array(z.int()) }))
    .describe('Work in repositories that are not on this node; it stays, and no attempt begins with it'),
})
