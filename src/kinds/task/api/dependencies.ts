import { endpoint } from '../../../pure/endpoint.ts'
import { IdParams } from '../../../pure/shapes.ts'
import { DependenciesBody, TaskView } from '../shapes/tasks.ts'

/** Dependencies of tasks. */

export const addDependencies = endpoint({
  method: 'POST',
  path: '/tasks/:id/dependencies',
  summary: 'Add dependencies to a task',
  tag: 'tasks',
  needs: 'operate',
  params: IdParams,
  body: DependenciesBody,
  answer: TaskView,
  etag: 'version',
})
