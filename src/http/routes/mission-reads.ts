import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { MISSION_STATES, type MissionState, missionStates } from '../../core/kinds/mission/states.ts'
import { listOf, Name, Tag } from '../../core/shapes/common.ts'
import { MissionTimeline, TimelineColumns } from '../../core/shapes/insight.ts'
import {
  MissionColumns,
  MissionGraph,
  MissionParams,
  MissionView,
  PlanVersionView,
} from '../../core/shapes/missions.ts'
import { ListedTask } from '../../core/shapes/tasks.ts'
import { inColumns, missionGraph } from '../../flow/missions/graph.ts'
import { requireMission, showMission, showPlan } from '../../flow/missions/missions.ts'
import { missionTimeline, timelineInColumns } from '../../flow/missions/timeline.ts'
import { missionView, planVersionView } from '../../flow/missions/views.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { sendCompressed } from '../compressed.ts'
import { pageOf, readCursor } from '../cursor.ts'
import { Page, pageSize, route } from '../schema.ts'
import { searchOf, TaskFilterQuery, TaskPage, taskPage } from '../task-list.ts'
import { etag } from '../versions.ts'

/** Reading missions. */

const tag = 'missions'
const ListQuery = z.strictObject({
  ...Page,
  state: z.enum(missionStates).optional(),
  stateType: z.enum(['pending', 'running', 'paused', 'terminal']).optional(),
  tag: Tag.optional(),
  q: Name.optional(),
})
type Listing = { Querystring: z.output<typeof ListQuery> }
type Params = { Params: { id: string } }
const Version = z.string().regex(/^[1-9][0-9]{0,8}$/)
const PlanQuery = z.strictObject({
  version: Version.optional(),
  since: Version.optional().describe('The version to compare it with'),
})

function statesIn({ state, stateType }: z.output<typeof ListQuery>): MissionState[] | undefined {
  if (state !== undefined) return [state]
  return stateType && missionStates.filter((one) => MISSION_STATES[one].type === stateType)
}

export function missionReads(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<Listing>(
    '/missions',
    route({
      summary: 'List missions, newest first',
      tag,
      needs: 'read',
      query: ListQuery,
      answer: listOf(MissionView),
    }),
    async ({ query, caller }) => {
      const limit = pageSize(query.limit)
      const filter = {
        states: statesIn(query),
        tag: query.tag,
        text: query.q,
        before: query.cursor === undefined ? undefined : readCursor(query.cursor),
      }
      const missions = await kernel.store.missions.list(caller.workspaceId, filter, limit + 1)
      return pageOf(missions, limit, { view: missionView, idOf: ({ id }) => id })
    },
  )

  app.get<Params>(
    '/missions/:id',
    route({ summary: 'Read a mission', tag, needs: 'read', params: MissionParams, answer: MissionView }),
    async ({ params, caller }, reply) => {
      const mission = await showMission(kernel, caller, params.id)
      return reply.header('etag', etag(mission.version)).send(mission)
    },
  )
  planReads(app, kernel)
  partsOfMissions(app, kernel)
}

/** The versions of its plan. */
function planReads(app: FastifyInstance, kernel: ServerKernel): void {
  app.get<Params>(
    '/missions/:id/plans',
    route({
      summary: 'List the versions of its plan, newest first',
      tag,
      needs: 'read',
      params: MissionParams,
      answer: listOf(PlanVersionView),
    }),
    async ({ params, caller }) => {
      const mission = await requireMission(kernel, caller, params.id)
      const plans = await kernel.store.missions.plans(caller.workspaceId, mission.id)
      return { items: plans.map((plan) => planVersionView(plan, mission)), nextCursor: null }
    },
  )

  app.get<Params & { Querystring: z.output<typeof PlanQuery> }>(
    '/missions/:id/plan',
    route({
      summary: 'Read its newest plan or another version, and what changed since a third one',
      tag,
      needs: 'read',
      params: MissionParams,
      query: PlanQuery,
      answer: PlanVersionView,
    }),
    ({ params, query, caller }) => showPlan(kernel, caller, params.id, query),
  )
}

/** Its tasks, its graph and its timeline. */
function partsOfMissions(app: FastifyInstance, kernel: ServerKernel): void {
  const TaskQuery = z.strictObject({ ...TaskPage, ...TaskFilterQuery })
  app.get<Params & { Querystring: z.output<typeof TaskQuery> }>(
    '/missions/:id/tasks',
    route({
      summary: 'List the tasks of a mission, newest first',
      tag,
      needs: 'read',
      params: MissionParams,
      query: TaskQuery,
      answer: listOf(ListedTask),
    }),
    async ({ params, query, caller }) => {
      const { id } = await requireMission(kernel, caller, params.id)
      return taskPage(kernel, caller, { ...searchOf(query), missionId: id }, query)
    },
  )

  const FormatQuery = z.strictObject({
    format: z
      .enum(['rows', 'columns'])
      .default('rows')
      .describe('"columns": lists in one order, for large missions'),
  })
  app.get<Params & { Querystring: z.output<typeof FormatQuery> }>(
    '/missions/:id/graph',
    route({
      summary:
        'Read the tasks of a mission and the edges between them; before its approval, those of its plan',
      tag,
      needs: 'read',
      params: MissionParams,
      query: FormatQuery,
      answer: z.union([MissionGraph, MissionColumns]),
    }),
    async (request, reply) => {
      const graph = await missionGraph(kernel, request.caller, request.params.id)
      const isColumns = request.query.format === 'columns'
      return sendCompressed(request, reply, isColumns ? inColumns(graph) : graph)
    },
  )

  app.get<Params & { Querystring: z.output<typeof FormatQuery> }>(
    '/missions/:id/timeline',
    route({
      summary: 'Read what the tasks of a mission did when: attempts, waits and verifications',
      tag,
      needs: 'read',
      params: MissionParams,
      query: FormatQuery,
      answer: z.union([MissionTimeline, TimelineColumns]),
    }),
    async (request, reply) => {
      const { caller, params, query } = request
      const read = query.format === 'columns' ? timelineInColumns : missionTimeline
      return sendCompressed(request, reply, await read(kernel, caller, params.id))
    },
  )
}
