import { fence, Tag } from '../../../pure/shapes.ts'
import { TaskCreate } from '../../task/shapes/tasks.ts'

/** What the holder of a task says about a task that it adds. Its mission and its project are those of the holder's task. */
export const ChildFields = TaskCreate.omit({
  mission: true,
  project: true,
  parentId: true,
  merge: true,
  key: true,
  userId: true,
  idempotencyKey: true,
}).extend({
  tempId: Tag.optional().describe(
    'Names it among those that this task adds; a repeated request gets the first one',
  ),
  priority: TaskCreate.shape.priority
    .unwrap()
    .optional()
    .describe('At most the priority of the task that adds it, which is the default'),
  maxRetries: TaskCreate.shape.maxRetries.unwrap().optional().describe('Default: as its mission says, or 3'),
})

export const ChildBody = ChildFields.extend(fence)
