import type { FastifyInstance } from 'fastify'
import * as api from '../../core/api/projects.ts'
import { Refused } from '../../core/errors.ts'
import { changeTrack, makeProject, projectView, showProject } from '../../flow/projects.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { pageOf, readCursor } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { pageSize } from '../schema.ts'

/** Project ids have a smaller range than task ids. */
const LARGEST_PROJECT_ID = 2 ** 31 - 1

function placeIn(cursor: string): number {
  const place = readCursor(cursor)
  if (place > LARGEST_PROJECT_ID)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return place
}

export function projectRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.createProject, async ({ body, caller }, reply) =>
    reply.code(201).send(await makeProject(kernel, caller, body)),
  )

  serve(app, api.listProjects, async ({ query, caller }) => {
    const limit = pageSize(query.limit)
    const after = query.cursor === undefined ? 0 : placeIn(query.cursor)
    const projects = await kernel.store.projects.list(caller.workspaceId, after, limit + 1)
    return pageOf(projects, limit, { view: projectView, idOf: ({ projectId }) => projectId })
  })

  serve(app, api.readProject, ({ params, caller }) => showProject(kernel, caller, params.slug))

  serve(app, api.changeTrack, ({ params, body, caller }) =>
    changeTrack(kernel, caller, params.slug, params.track, body),
  )
}
