import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { byId } from '../../../pure/paging.ts'
import { listOf, Name, Page, Tag } from '../../../pure/shapes.ts'
import { MissionTimeline, TimelineColumns } from '../../../views/insight/shapes.ts'
import { TaskFilterQuery, TaskPage } from '../../task/shapes/lists.ts'
import { ListedTask } from '../../task/shapes/tasks.ts'
import {
  MissionColumns,
  MissionGraph,
  MissionParams,
  MissionView,
  PlanVersionView,
} from '../shapes/missions.ts'
import { missionStates } from '../states.ts'

/** Reading missions. */

const tag = 'missions'
export const ListQuery = z.strictObject({
  ...Page,
  state: z.enum(missionStates).optional(),
  stateType: z.enum(['pending', 'running', 'paused', 'terminal']).optional(),
  tag: Tag.optional(),
  q: Name.optional(),
})

const Version = z.string().regex(/^[1-9][0-9]{0,8}$/)
const PlanQuery = z.strictObject({
  version: Version.optional(),
  since: Version.optional().describe('The version to compare it with'),
})

export const listMissions = endpoint({
  method: 'GET',
  path: '/missions',
  summary: 'List missions, newest first',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(MissionView),
  paging: byId,
})

export const readMission = endpoint({
  method: 'GET',
  path: '/missions/:id',
  summary: 'Read a mission',
  tag,
  needs: 'read',
  params: MissionParams,
  answer: MissionView,
  etag: 'version',
})

export const listPlanVersions = endpoint({
  method: 'GET',
  path: '/missions/:id/plans',
  summary: 'List the versions of its plan, newest first',
  tag,
  needs: 'read',
  params: MissionParams,
  answer: listOf(PlanVersionView),
})

export const readMissionPlan = endpoint({
  method: 'GET',
  path: '/missions/:id/plan',
  summary: 'Read its newest plan or another version, and what changed since a third one',
  tag,
  needs: 'read',
  params: MissionParams,
  query: PlanQuery,
  answer: PlanVersionView,
})

const TaskQuery = z.strictObject({ ...TaskPage, ...TaskFilterQuery })

export const listTasksOfMission = endpoint({
  method: 'GET',
  path: '/missions/:id/tasks',
  summary: 'List the tasks of a mission, newest first',
  tag,
  needs: 'read',
  params: MissionParams,
  query: TaskQuery,
  answer: listOf(ListedTask),
  paging: byId,
})

const FormatQuery = z.strictObject({
  format: z
    .enum(['rows', 'columns'])
    .default('rows')
    .describe('"columns": lists in one order, for large missions'),
})

export const readMissionGraph = endpoint({
  method: 'GET',
  path: '/missions/:id/graph',
  summary: 'Read the tasks of a mission and the edges between them; before its approval, those of its plan',
  tag,
  needs: 'read',
  params: MissionParams,
  query: FormatQuery,
  answer: z.union([MissionGraph, MissionColumns]),
  isLarge: true,
})

export const readMissionTimeline = endpoint({
  method: 'GET',
  path: '/missions/:id/timeline',
  summary: 'Read what the tasks of a mission did when: attempts, waits and verifications',
  tag,
  needs: 'read',
  params: MissionParams,
  query: FormatQuery,
  answer: z.union([MissionTimeline, TimelineColumns]),
  isLarge: true,
})
