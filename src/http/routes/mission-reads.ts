import type { FastifyInstance } from 'fastify'
import type { z } from 'zod'
import * as api from '../../core/api/mission-reads.ts'
import { MISSION_STATES, type MissionState, missionStates } from '../../core/kinds/mission/states.ts'
import { inColumns, missionGraph } from '../../flow/missions/graph.ts'
import { requireMission, showMission, showPlan } from '../../flow/missions/missions.ts'
import { missionTimeline, timelineInColumns } from '../../flow/missions/timeline.ts'
import { missionView, planVersionView } from '../../flow/missions/views.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import { sendCompressed } from '../compressed.ts'
import { pageOf, readCursor } from '../cursor.ts'
import { serve } from '../endpoint.ts'
import { pageSize } from '../schema.ts'
import { searchOf, taskPage } from '../task-list.ts'
import { etag } from '../versions.ts'

/** Reading missions. */

function statesIn({ state, stateType }: z.output<typeof api.ListQuery>): MissionState[] | undefined {
  if (state !== undefined) return [state]
  return stateType && missionStates.filter((one) => MISSION_STATES[one].type === stateType)
}

export function missionReads(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listMissions, async ({ query, caller }) => {
    const limit = pageSize(query.limit)
    const filter = {
      states: statesIn(query),
      tag: query.tag,
      text: query.q,
      before: query.cursor === undefined ? undefined : readCursor(query.cursor),
    }
    const missions = await kernel.store.missions.list(caller.workspaceId, filter, limit + 1)
    return pageOf(missions, limit, { view: missionView, idOf: ({ id }) => id })
  })

  serve(app, api.readMission, async ({ params, caller }, reply) => {
    const mission = await showMission(kernel, caller, params.id)
    return reply.header('etag', etag(mission.version)).send(mission)
  })
  planReads(app, kernel)
  partsOfMissions(app, kernel)
}

/** The versions of its plan. */
function planReads(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listPlanVersions, async ({ params, caller }) => {
    const mission = await requireMission(kernel, caller, params.id)
    const plans = await kernel.store.missions.plans(caller.workspaceId, mission.id)
    return { items: plans.map((plan) => planVersionView(plan, mission)), nextCursor: null }
  })

  serve(app, api.readMissionPlan, ({ params, query, caller }) => showPlan(kernel, caller, params.id, query))
}

/** Its tasks, its graph and its timeline. */
function partsOfMissions(app: FastifyInstance, kernel: ServerKernel): void {
  serve(app, api.listTasksOfMission, async ({ params, query, caller }) => {
    const { id } = await requireMission(kernel, caller, params.id)
    return taskPage(kernel, caller, { ...searchOf(query), missionId: id }, query)
  })

  serve(app, api.readMissionGraph, async (request, reply) => {
    const graph = await missionGraph(kernel, request.caller, request.params.id)
    const isColumns = request.query.format === 'columns'
    return sendCompressed(request, reply, isColumns ? inColumns(graph) : graph)
  })

  serve(app, api.readMissionTimeline, async (request, reply) => {
    const { caller, params, query } = request
    const read = query.format === 'columns' ? timelineInColumns : missionTimeline
    return sendCompressed(request, reply, await read(kernel, caller, params.id))
  })
}
