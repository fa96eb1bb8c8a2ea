import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { ServerKernel } from '../door/server-kernel.ts'
import { taskIdNamed } from '../kinds/task/acts/names.ts'
import { isRead } from './log-head.ts'

/**
 * Where a task is only read, its key or its number stands for its id. Changes take only the id: a caller that changes a task
 * has read it before.
 */
export function installTaskNames(app: FastifyInstance, kernel: ServerKernel): void {
  // Before the validation, since some routes take nothing but ids.
  app.addHook('preValidation', (request, _reply, done) => {
    if (!readsTask(request)) return done()
    const params = request.params as { id: string }
    taskIdNamed(kernel, request.caller, params.id).then((id) => {
      if (id !== null) params.id = id
      done()
    }, done)
  })
}

const readsTask = ({ method, routeOptions, caller }: FastifyRequest) =>
  method === 'GET' &&
  Boolean(caller) &&
  /\/tasks\/:id(\/|$)/.test(routeOptions.url ?? '') &&
  isRead(method, routeOptions.config.needs)
