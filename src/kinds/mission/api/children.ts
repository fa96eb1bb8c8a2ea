import { endpoint } from '../../../pure/endpoint.ts'
import { IdParams } from '../../../pure/shapes.ts'
import { TaskView } from '../../task/shapes/tasks.ts'
import { ChildBody } from '../shapes/children.ts'

/** Tasks that holders add to their missions. */

export const addChild = endpoint({
  method: 'POST',
  path: '/tasks/:id/children',
  summary: 'Add a task to the mission of a task that you hold',
  tag: 'claims',
  needs: 'work',
  params: IdParams,
  body: ChildBody,
  status: 201,
  answer: TaskView,
  etag: 'version',
})
