import type { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import {
  ApproveBody,
  MissionAct,
  MissionCreate,
  MissionParams,
  MissionPatchBody,
  MissionRetry,
  MissionView,
  RejectBody,
} from '../shapes/missions.ts'

/** Missions and what people do to them. */

const tag = 'missions'
/** Ten thousand tasks take a few megabytes. */
const LARGEST_MISSION_BYTES = 32 * 1024 * 1024

export const createMission = endpoint({
  method: 'POST',
  path: '/missions',
  summary: 'Create a mission with its plan',
  tag,
  needs: 'operate',
  body: MissionCreate,
  status: 201,
  answer: MissionView,
  etag: 'version',
  bodyLimit: LARGEST_MISSION_BYTES,
})

export const changeMission = endpoint({
  method: 'PATCH',
  path: '/missions/:id',
  summary: 'Change a mission; a larger budget lets one that has spent its budget continue',
  tag,
  needs: 'operate',
  params: MissionParams,
  body: MissionPatchBody,
  answer: MissionView,
  etag: 'version',
})

/** What changes its state. */
const act = <const A extends string, B extends z.ZodType>(name: A, summary: string, body: B, status = 200) =>
  endpoint({
    method: 'POST',
    path: `/missions/:id/${name}`,
    summary,
    tag,
    needs: 'operate',
    params: MissionParams,
    body,
    bodyIsOptional: true,
    status,
    answer: MissionView,
  })

export const approveMission = act('approve', 'Approve its newest plan: its tasks are created', ApproveBody)
export const rejectMission = act(
  'reject',
  'Reject its plan: the mission fails, or continues if it runs',
  RejectBody,
)
export const pauseMission = act(
  'pause',
  'Pause it: nothing more is handed out, and held tasks are paused',
  MissionAct,
)
export const resumeMission = act('resume', 'Resume it after a pause', MissionAct)
export const cancelMission = act('cancel', 'Cancel it and all its open tasks', MissionAct)
export const retryMission = act(
  'retry',
  'Queue its failed tasks again; what was skipped because of them waits again',
  MissionRetry,
)
export const cloneMission = act(
  'clone',
  'Create a mission with the same goal, plan and settings',
  MissionAct,
  201,
)
