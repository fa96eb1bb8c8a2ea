import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { listOf } from '../../core/shapes/common.ts'
import {
  RoutineCreate,
  RoutineParams,
  RoutinePatch,
  RoutineRun,
  RoutineRunView,
  RoutineStarted,
  RoutineView,
} from '../../core/shapes/routines.ts'
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
import { Page, pageSize, route } from '../schema.ts'
import { etag, versionIn } from '../versions.ts'

/** Routines, and the missions that they start. */

const tag = 'routines'
/** Ten thousand tasks take a few megabytes. */
const LARGEST_ROUTINE_BYTES = 32 * 1024 * 1024
const ListQuery = z.strictObject(Page)
type Params = { Params: { id: string } }
type Listing = { Querystring: z.output<typeof ListQuery> }

export function routineRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  app.post<{ Body: z.output<typeof RoutineCreate> }>(
    '/routines',
    route({
      summary: 'Save a plan, or a mission that has ended, as a routine',
      tag,
      needs: 'operate',
      body: RoutineCreate,
      status: 201,
      answer: RoutineView,
      bodyLimit: LARGEST_ROUTINE_BYTES,
    }),
    async ({ body, caller }, reply) => {
      const routine = await createRoutine(kernel, caller, body)
      return reply.code(201).header('etag', etag(routine.version)).send(routine)
    },
  )

  app.patch<Params & { Body: z.output<typeof RoutinePatch> }>(
    '/routines/:id',
    route({
      summary: 'Change a routine: its plan, variables, schedule or settings',
      tag,
      needs: 'operate',
      params: RoutineParams,
      body: RoutinePatch,
      answer: RoutineView,
      bodyLimit: LARGEST_ROUTINE_BYTES,
    }),
    async ({ params, body, caller, headers }, reply) => {
      const routine = await updateRoutine(kernel, caller, params.id, body, versionIn(headers['if-match']))
      return reply.header('etag', etag(routine.version)).send(routine)
    },
  )

  app.delete<Params>(
    '/routines/:id',
    route({
      summary: 'Remove a routine; the missions that it started stay',
      tag,
      needs: 'operate',
      params: RoutineParams,
      status: 204,
      answer: null,
    }),
    async ({ params, caller }, reply) => {
      await removeRoutine(kernel, caller, params.id)
      return reply.code(204).send()
    },
  )

  app.post<Params & { Body: z.output<typeof RoutineRun> }>(
    '/routines/:id/run',
    route({
      summary: 'Start a mission of the routine now',
      tag,
      needs: 'operate',
      params: RoutineParams,
      body: RoutineRun,
      bodyIsOptional: true,
      status: 201,
      answer: RoutineStarted,
    }),
    async ({ params, body, caller }, reply) => {
      const { variables } = RoutineRun.parse(body ?? {})
      return reply.code(201).send(await runRoutine(kernel, caller, params.id, variables))
    },
  )
  routineReads(app, kernel)
}

function routineReads(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<Listing>(
    '/routines',
    route({
      summary: 'List routines, newest first',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: listOf(RoutineView),
    }),
    async ({ query, caller }) => {
      const limit = pageSize(query.limit)
      const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
      const routines = await kernel.store.routines.list(caller.workspaceId, before, limit + 1)
      return pageOf(routines, limit, { view: listedRoutine, idOf: ({ routine }) => routine.id })
    },
  )

  app.get<Params>(
    '/routines/:id',
    route({
      summary: 'Read a routine, with its plan, and how its missions differ from the one it was made from',
      tag,
      needs: 'read',
      params: RoutineParams,
      answer: RoutineView,
    }),
    async ({ params, caller }, reply) => {
      const routine = await showRoutine(kernel, caller, params.id)
      return reply.header('etag', etag(routine.version)).send(routine)
    },
  )

  app.get<Params & Listing>(
    '/routines/:id/runs',
    route({
      summary: 'List the missions that it started, newest first',
      tag,
      needs: 'read',
      params: RoutineParams,
      query: ListQuery,
      answer: listOf(RoutineRunView),
    }),
    async ({ params, query, caller }) => {
      const limit = pageSize(query.limit)
      const { id } = await requireRoutine(kernel, caller, params.id)
      const before = query.cursor === undefined ? undefined : readCursor(query.cursor)
      const runs = await kernel.store.routines.runs(caller.workspaceId, id, { before }, limit + 1)
      return pageOf(runs, limit, { view: runView, idOf: (run) => run.id })
    },
  )
}
