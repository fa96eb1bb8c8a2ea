import { z } from 'zod'
import { include, Name, Page, Tag, Track } from '../../../pure/shapes.ts'
import { PURPOSES } from '../record.ts'

/** Query parameters shared by all lists of tasks. */
export const TaskPage = { ...Page, include: include('input', 'checkpointData', 'summary') }

/** Which tasks: in all lists that are not of one kind of task already. */
export const TaskFilterQuery = {
  state: Name.optional(),
  stateType: z.enum(['pending', 'running', 'paused', 'terminal']).optional(),
  tag: Tag.optional(),
  agent: Name.optional(),
  track: Track.optional(),
  purpose: z.enum(PURPOSES).optional().describe('Default: work'),
  priorityMin: z
    .string()
    .regex(/^([1-9]|10)$/)
    .optional(),
  q: Name.optional(),
  archived: z.enum(['true', 'false']).optional(),
}
export const TaskFilters = z.object(TaskFilterQuery)
