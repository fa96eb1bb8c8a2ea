import { ChildBody } from '../shapes/children.ts'
import { IdParams } from '../shapes/common.ts'
import { TaskView } from '../shapes/tasks.ts'
import { endpoint } from './endpoint.ts'

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
