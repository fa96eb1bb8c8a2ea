import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { byId } from '../../pure/paging.ts'
import { listOf, Page } from '../../pure/shapes.ts'
import {
  RoutineCreate,
  RoutineParams,
  RoutinePatch,
  RoutineRun,
  RoutineRunView,
  RoutineStarted,
  RoutineView,
  ScheduleQuery,
  ScheduleTimes,
} from './shapes.ts'

/** Routines, and the missions that they start. */

const tag = 'routines'
/** Ten thousand tasks take a few megabytes. */
const LARGEST_ROUTINE_BYTES = 32 * 1024 * 1024
const ListQuery = z.strictObject(Page)

export const createRoutine = endpoint({
  method: 'POST',
  path: '/routines',
  summary: 'Save a plan, or a mission that has ended, as a routine',
  tag,
  needs: 'operate',
  body: RoutineCreate,
  status: 201,
  answer: RoutineView,
  etag: 'version',
  bodyLimit: LARGEST_ROUTINE_BYTES,
})

export const changeRoutine = endpoint({
  method: 'PATCH',
  path: '/routines/:id',
  summary: 'Change a routine: its plan, variables, schedule or settings',
  tag,
  needs: 'operate',
  params: RoutineParams,
  body: RoutinePatch,
  answer: RoutineView,
  etag: 'version',
  bodyLimit: LARGEST_ROUTINE_BYTES,
})

export const deleteRoutine = endpoint({
  method: 'DELETE',
  path: '/routines/:id',
  summary: 'Remove a routine; the missions that it started stay',
  tag,
  needs: 'operate',
  params: RoutineParams,
  status: 204,
  answer: null,
})

export const runRoutine = endpoint({
  method: 'POST',
  path: '/routines/:id/run',
  summary: 'Start a mission of the routine now',
  tag,
  needs: 'operate',
  params: RoutineParams,
  body: RoutineRun,
  bodyIsOptional: true,
  status: 201,
  answer: RoutineStarted,
})

export const listRoutines = endpoint({
  method: 'GET',
  path: '/routines',
  summary: 'List routines, newest first',
  tag,
  needs: 'read',
  query: ListQuery,
  answer: listOf(RoutineView),
  paging: byId,
})

export const readRoutine = endpoint({
  method: 'GET',
  path: '/routines/:id',
  summary: 'Read a routine, with its plan, and how its missions differ from the one it was made from',
  tag,
  needs: 'read',
  params: RoutineParams,
  answer: RoutineView,
  etag: 'version',
})

export const listRunsOfRoutine = endpoint({
  method: 'GET',
  path: '/routines/:id/runs',
  summary: 'List the missions that it started, newest first',
  tag,
  needs: 'read',
  params: RoutineParams,
  query: ListQuery,
  answer: listOf(RoutineRunView),
  paging: byId,
})

export const readScheduleTimes = endpoint({
  method: 'GET',
  path: '/schedules/next',
  summary: 'Read when a schedule would fire next, or why it cannot be saved, before it is',
  tag,
  needs: 'read',
  query: ScheduleQuery,
  answer: ScheduleTimes,
})
