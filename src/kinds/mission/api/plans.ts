import { z } from 'zod'
import { endpoint } from '../../../pure/endpoint.ts'
import { Digits } from '../../../pure/shapes.ts'
import { PlanAnswer, PlanView, ProjectParams } from '../../project/shapes.ts'
import { MissionParams, MissionView } from '../shapes/missions.ts'
import { PlanCheckAnswer } from '../shapes/plans.ts'

/** Plans of projects and missions, as text. */

/** Ten thousand tasks take about two megabytes; a longer text is not a plan. */
const LARGEST_PLAN_BYTES = 4 * 1024 * 1024

const FormatQuery = z.strictObject({ format: z.enum(['yaml', 'json']).optional() })

const tag = 'projects'

export const importProjectPlan = endpoint({
  method: 'PUT',
  path: '/projects/:slug/plan',
  summary: 'Import a plan as YAML or JSON, all or nothing',
  tag,
  needs: 'operate',
  params: ProjectParams,
  takesPlan: true,
  bodyLimit: LARGEST_PLAN_BYTES,
  answer: PlanAnswer,
})

export const replaceMissionPlan = endpoint({
  method: 'PUT',
  path: '/missions/:id/plan',
  summary: 'Replace the plan of a mission, as YAML or JSON, before it is approved',
  tag: 'missions',
  needs: 'operate',
  params: MissionParams,
  query: z.strictObject({
    planVersion: Digits.optional().describe(
      'The version that this one was made from: refused if there is a newer one',
    ),
  }),
  takesPlan: true,
  bodyLimit: LARGEST_PLAN_BYTES,
  answer: MissionView,
})

export const checkPlan = endpoint({
  method: 'POST',
  path: '/plans/check',
  summary: "Check a plan, a project's or a mission's, as YAML or JSON, without creating anything",
  tag,
  needs: 'read',
  takesPlan: true,
  bodyLimit: LARGEST_PLAN_BYTES,
  answer: PlanCheckAnswer,
})

export const exportProjectPlan = endpoint({
  method: 'GET',
  path: '/projects/:slug/plan',
  summary: 'Export the plan as JSON or YAML',
  tag: 'projects',
  needs: 'read',
  params: ProjectParams,
  query: FormatQuery,
  answer: PlanView,
  mediaTypes: ['application/json', 'application/yaml'],
})
