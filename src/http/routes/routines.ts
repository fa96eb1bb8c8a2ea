import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/routines.ts'
import { RoutineRun } from '../../core/shapes/routines.ts'
import {
  createRoutine,
  removeRoutine,
  requireRoutine,
  runRoutine,
  showRoutine,
  updateRoutine,
} from '../../flow/routines/routines.ts'
import { listedRoutine, runView } from '../../flow/routines/views.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { pageOf, readCursor } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { pageSize } from '../schema.ts'
import { etag, versionIn } from '../versions.ts'

/** Routines, and the missions that they start. */

export function routineRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.createRoutine, async ({ body, caller }, reply) => {
    const routine = await createRoutine(kernel, caller, body)
    return reply.code(201).header('etag', etag(routine.version)).send(routine)
  })

  serve(app, api.changeRoutine, async ({ params, body, caller, headers }, reply) => {
    const routine = await updateRoutine(kernel, caller, params.id, body, versionIn(headers['if-match']))
    return reply.header('etag', etag(routine.version)).send(routine)
  })

  serve(app, api.deleteRoutine, async ({ params, caller }, reply) => {
    await removeRoutine(kernel, caller, params.id)
    return reply.code(204).send()
  })

  serve(app, api.runRoutine, async ({ params, body, caller }, reply) => {
    const { variables } = RoutineRun.parse(body ?? {})
    return reply.code(201).send(await runRoutine(kernel, caller, params.id, variables))
  })
  routineReads(app, kernel)
}

function routineReads(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listRoutines, async ({ query, caller }) => {
    const limit = pageSize(query.limit)
    const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
    const routines = await kernel.store.routines.list(caller.workspaceId, before, limit + 1)
    return pageOf(routines, limit, { view: listedRoutine, idOf: ({ routine }) => routine.id })
  })

  serve(app, api.readRoutine, async ({ params, caller }, reply) => {
    const routine = await showRoutine(kernel, caller, params.id)
    return reply.header('etag', etag(routine.version)).send(routine)
  })

  serve(app, api.listRunsOfRoutine, async ({ params, query, caller }) => {
    const limit = pageSize(query.limit)
    const { id } = await requireRoutine(kernel, caller, params.id)
    const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
    const runs = await kernel.store.routines.runs(caller.workspaceId, id, { before }, limit + 1)
    return pageOf(runs, limit, { view: runView, idOf: (run) => run.id })
  })
}
