import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import { commentFrom } from '../task/acts/comment-from.ts'
import { searchOf, taskPage } from '../task/acts/list.ts'
import { inColumns, missionGraph } from './acts/graph.ts'
import {
  approveMission,
  cloneMission,
  createMission,
  operateMission,
  rejectMission,
  requireMission,
  showMission,
  showPlan,
} from './acts/missions.ts'
import { missionTimeline, timelineInColumns } from './acts/timeline.ts'
import { missionView, planVersionView } from './acts/views.ts'
import * as api from './api/missions.ts'
import type { ListQuery } from './api/reads.ts'
import * as reading from './api/reads.ts'
import { listMissions, plansOfMission, simulatedMissions } from './postgres/reads.ts'
import { MISSION_STATES, type MissionState, missionStates } from './states.ts'

/** Missions and what people do to them. */
export const missionActs = actsOf(api)({
  createMission: ({ kernel }, { body, caller }) => createMission(kernel, caller, body),
  changeMission: ({ kernel }, { params, body: patch, caller, ifVersion }) =>
    operateMission(kernel, caller, params.id, { kind: 'update', ifVersion, patch }),
  approveMission: ({ kernel }, { params, body, caller }) => approveMission(kernel, caller, params.id, body),
  rejectMission: ({ kernel }, { params, body, caller }) => rejectMission(kernel, caller, params.id, body),
  pauseMission: ({ kernel }, { params, body: { reason = null }, caller }) =>
    operateMission(kernel, caller, params.id, { kind: 'pause', reason }),
  resumeMission: ({ kernel }, { params, caller }) =>
    operateMission(kernel, caller, params.id, { kind: 'resume' }),
  cancelMission: ({ kernel }, { params, body: { reason = null }, caller }) =>
    operateMission(kernel, caller, params.id, { kind: 'cancel', reason }),
  retryMission: ({ kernel }, { params, body: { reason = null, comment }, caller }) =>
    operateMission(kernel, caller, params.id, { kind: 'retry', reason, said: commentFrom(comment) }),
  cloneMission: ({ kernel }, { params, caller }) => cloneMission(kernel, caller, params.id),
})

function statesIn({ state, stateType }: z.output<typeof ListQuery>): MissionState[] | undefined {
  if (state !== undefined) return [state]
  return stateType && missionStates.filter((one) => MISSION_STATES[one].type === stateType)
}

/** Reading missions. */
export const missionReads = actsOf(reading)({
  listMissions: async ({ kernel }, { query, caller, page }) => {
    const filter = { states: statesIn(query), tag: query.tag, text: query.q, before: page.after }
    const missions = await listMissions(kernel.store.readers, caller.workspaceId, filter, page.rows)
    const ids = missions.map(({ id }) => id)
    const simulated = await simulatedMissions(kernel.store.readers, caller.workspaceId, ids)
    return page.of(
      missions,
      (one) => missionView(one, simulated.has(one.id)),
      ({ id }) => id,
    )
  },
  readMission: ({ kernel }, { params, caller }) => showMission(kernel, caller, params.id),
  listPlanVersions: async ({ kernel }, { params, caller }) => {
    const mission = await requireMission(kernel, caller, params.id)
    const plans = await plansOfMission(kernel.store.readers, caller.workspaceId, mission.id)
    return { items: plans.map((plan) => planVersionView(plan, mission)), nextCursor: null }
  },
  readMissionPlan: ({ kernel }, { params, query, caller }) => showPlan(kernel, caller, params.id, query),
  listTasksOfMission: async ({ kernel }, call) => {
    const { id } = await requireMission(kernel, call.caller, call.params.id)
    return taskPage(kernel, call, { ...searchOf(call.query), missionId: id })
  },
  readMissionGraph: async ({ kernel }, { params, query, caller }) => {
    const graph = await missionGraph(kernel, caller, params.id)
    return query.format === 'columns' ? inColumns(graph) : graph
  },
  readMissionTimeline: ({ kernel }, { params, query, caller }) => {
    const read = query.format === 'columns' ? timelineInColumns : missionTimeline
    return read(kernel, caller, params.id)
  },
})
