import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { Refused } from '../../core/errors.ts'
import { listOf } from '../../core/shapes/common.ts'
import {
  ProjectBody,
  ProjectParams,
  ProjectView,
  ProjectWithTracks,
  TrackBody,
  TrackParams,
} from '../../core/shapes/projects.ts'
import { changeTrack, makeProject, projectView, showProject } from '../../flow/projects.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { pageOf, readCursor } from '../cursor.ts'
import { Page, pageSize, route } from '../schema.ts'

const ListQuery = z.strictObject(Page)

/** Project ids have a smaller range than task ids. */
const LARGEST_PROJECT_ID = 2 ** 31 - 1

function placeIn(cursor: string): number {
  const place = readCursor(cursor)
  if (place > LARGEST_PROJECT_ID)
    throw Refused.field('VALIDATION_FAILED', 'cursor', 'is not a cursor of this list')
  return place
}

export function projectRoutes(app: FastifyInstance, kernel: ServerKernel): void {
  const tag = 'projects'

  app.post<{ Body: z.output<typeof ProjectBody> }>(
    '/projects',
    route({
      summary: 'Create a project',
      tag,
      needs: 'operate',
      body: ProjectBody,
      status: 201,
      answer: ProjectView,
    }),
    async ({ body, caller }, reply) => reply.code(201).send(await makeProject(kernel, caller, body)),
  )

  app.get<{ Querystring: z.output<typeof ListQuery> }>(
    '/projects',
    route({ summary: 'List projects', tag, needs: 'read', query: ListQuery, answer: listOf(ProjectView) }),
    async ({ query, caller }) => {
      const limit = pageSize(query.limit)
      const after = query.cursor === undefined ? 0 : placeIn(query.cursor)
      const projects = await kernel.store.projects.list(caller.workspaceId, after, limit + 1)
      return pageOf(projects, limit, { view: projectView, idOf: ({ projectId }) => projectId })
    },
  )

  app.get<{ Params: { slug: string } }>(
    '/projects/:slug',
    route({
      summary: 'Read a project and the progress of its tracks',
      tag,
      needs: 'read',
      params: ProjectParams,
      answer: ProjectWithTracks,
    }),
    ({ params, caller }) => showProject(kernel, caller, params.slug),
  )

  app.put<{ Params: { slug: string; track: string }; Body: z.output<typeof TrackBody> }>(
    '/projects/:slug/tracks/:track',
    route({
      summary: 'Set how many agents a track may have',
      tag,
      needs: 'operate',
      params: TrackParams,
      body: TrackBody,
      answer: ProjectWithTracks,
    }),
    ({ params, body, caller }) => changeTrack(kernel, caller, params.slug, params.track, body.maxAgents),
  )
}
