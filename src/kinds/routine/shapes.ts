import { z } from 'zod'
import { IsSimulated, Slug, Tag, Text, Title, Uuid } from '../../pure/shapes.ts'
import { AUTONOMIES, MissionSettings } from '../mission/shapes/missions.ts'
import { missionStates } from '../mission/states.ts'
import { VariablesSchema, VariableValues } from './rules/variables.ts'

/** Routines: plans that are run again and again, by hand or by the clock. */

const OVERLAPS = ['skip', 'queue', 'replace'] as const
const CATCH_UPS = ['none', 'last', 'all'] as const

/** As it is stored. */
export const Schedule = z.strictObject({
  cron: z
    .string()
    .min(1)
    .max(200)
    .describe('Five fields: minute, hour, day of the month, month, day of the week'),
  timeZone: z.string().min(1).max(64).default('UTC').describe('Such as Europe/Berlin. Default: UTC'),
  overlap: z
    .enum(OVERLAPS)
    .default('skip')
    .describe(
      'While its last mission has not ended: skip the time (default); queue it, one at most; or replace that mission',
    ),
  catchUp: z
    .enum(CATCH_UPS)
    .default('last')
    .describe(
      'Times that came while nothing ran: none of them, the last (default), or all of the last day, 100 at most',
    ),
})
export type Schedule = z.output<typeof Schedule>

/** As it is given: where null is another choice, defaults are filled in later. */
const { cron, timeZone, overlap, catchUp } = Schedule.shape
const GivenSchedule = z.strictObject({
  cron,
  timeZone: timeZone.unwrap().optional(),
  overlap: overlap.unwrap().optional(),
  catchUp: catchUp.unwrap().optional(),
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: keeping them out is the point
const NO_CONTROL_CHARACTERS = /^[^\u0000-\u001f\u007f]*$/
const unfinished = (length: number) => z.string().max(length).regex(NO_CONTROL_CHARACTERS)

/** A schedule that is still being written: what is wrong with it is the answer, and no refusal. */
export const ScheduleQuery = z.strictObject({
  cron: unfinished(200).default('').describe('Five fields, as in the schedule of a routine'),
  timeZone: unfinished(64).default('UTC').describe('Such as Europe/Berlin. Default: UTC'),
})
export const ScheduleTimes = z.object({
  nextTimes: z.array(z.string()).describe('The next three times; none: see the problem'),
  problem: z
    .object({ field: z.enum(['cron', 'timeZone']), message: z.string() })
    .nullable()
    .describe('Why a routine cannot be saved with it, for example because it never fires'),
})

/** The settings of its missions. */
export const RoutineConfig = MissionSettings.extend({
  autonomy: z
    .enum(AUTONOMIES)
    .optional()
    .describe('Saving a routine approves its plan; with "approve" each of its missions asks again'),
})
export type RoutineConfig = z.output<typeof RoutineConfig>

const settings = {
  name: Title,
  goal: Text.min(1).optional().describe('Of its missions, with {{variables}}. Default: the name'),
  title: Title.optional().describe(
    'Of its missions, with {{variables}}. Default: the title of the plan, or the name',
  ),
  description: Text.nullable().optional(),
  tags: z.array(Tag).max(50).optional(),
  priority: z.int().min(1).max(10).optional(),
  project: Slug.optional(),
  plan: z
    .unknown()
    .optional()
    .describe('A plan as in docs/plans.md, with {{variables}} in its texts and inputs'),
  variables: VariablesSchema.optional().describe('JSON Schema of an object of texts, numbers and booleans'),
  schedule: GivenSchedule.nullable().optional(),
  enabled: z.boolean().optional().describe('Whether its schedule is active. Default: true'),
  config: RoutineConfig.optional(),
}
export const RoutineCreate = z.strictObject({
  ...settings,
  fromMission: Uuid.optional().describe('A mission that has ended: its plan and settings become the routine'),
})
const { project: _project, ...changeable } = settings
export const RoutinePatch = z.strictObject({ ...changeable, name: Title.optional() })
export const RoutineRun = z.strictObject({ variables: VariableValues.default({}) })
export const RoutineStarted = z.object({ missionId: Uuid })
export const RoutineParams = z.strictObject({ id: Uuid })

const Figures = z.object({
  costUsd: z.string().nullable().describe('Null: unknown'),
  durationMs: z.int().nullable(),
  score: z.number().nullable().describe('The mean of the scores that its verifications gave'),
})

const Drift = z.object({
  runs: z.int().describe('How many of the last missions that were completed it is the mean of'),
  costChange: z.number().nullable().describe('0.12: they cost 12 % more than the origin'),
  durationChange: z.number().nullable().describe('0.12: they take 12 % longer'),
  scoreChange: z.number().nullable().describe('The difference of the scores'),
})

export const RoutineView = z.object({
  id: Uuid,
  name: z.string(),
  goal: z.string(),
  title: z.string(),
  description: z.string().nullable(),
  tags: z.array(z.string()),
  priority: z.int(),
  project: z.string().nullable(),
  config: RoutineConfig,
  plan: z.unknown().describe('Only where one routine is read'),
  planDigest: z.string(),
  taskCount: z.int(),
  variables: z.unknown().describe('JSON Schema, as it was saved'),
  schedule: Schedule.nullable(),
  enabled: z.boolean(),
  nextAt: z.string().nullable().describe('When it starts its next mission, if nothing changes'),
  nextTimes: z.array(z.string()).optional().describe('The next three'),
  waitingFor: z.array(z.string()).describe('Scheduled times whose missions wait for the previous mission'),
  skippedInRow: z.int(),
  originMissionId: Uuid.nullable(),
  origin: Figures.nullable()
    .optional()
    .describe('Of the mission it was made from; where one routine is read'),
  drift: Drift.nullable()
    .optional()
    .describe('Lists have no scoreChange, and look for completed missions among the last 30'),
  lastRuns: z
    .array(z.object({ missionId: Uuid, state: z.enum(missionStates), startedAt: z.string() }))
    .optional()
    .describe('Its last ten missions, newest first; in lists'),
  approvedBy: z.string(),
  createdBy: z.string(),
  version: z.int(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export const RoutineRunView = z.object({
  missionId: Uuid,
  scheduledFor: z.string().nullable().describe('Null: started by hand'),
  startedAt: z.string(),
  state: z.enum(missionStates),
  title: z.string(),
  variables: VariableValues,
  completedAt: z.string().nullable(),
  ...Figures.shape,
  isSimulated: IsSimulated,
})
