import type { z } from 'zod'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { requireMission } from '../../mission/acts/missions.ts'
import { refuseAgents } from '../../mission/acts/plan-agents.ts'
import { planDigest } from '../../mission/acts/plan-digest.ts'
import { missionPlan, refuseCancelling } from '../../mission/acts/plan-tasks.ts'
import { type MissionPlan, outsideId } from '../../mission/plan/mission-plan.ts'
import { refusedPlan } from '../../mission/plan/refusal.ts'
import { planAsWritten } from '../../mission/plan/write.ts'
import { isEnd } from '../../mission/states.ts'
import type { RoutineSettings } from '../rules/command.ts'
import { readCron } from '../rules/cron.ts'
import { nextFire } from '../rules/next-fire.ts'
import { isTimeZone } from '../rules/time-zone.ts'
import { schemaProblems, unknownNames, type VariablesSchema, valuesOf } from '../rules/variables.ts'
import { RoutineConfig, type RoutineCreate, type Schedule, type ScheduleTimes } from '../shapes.ts'
import { fillIn } from './fill-in.ts'

/** What a routine may be: checked whole when it is saved, so that its missions start without anybody there. */

/** What is checked together. */
export type Checked = Omit<RoutineSettings, 'plan' | 'planDigest' | 'taskCount'> & { plan: MissionPlan }

type Given = Pick<
  Checked,
  'goal' | 'title' | 'description' | 'tags' | 'priority' | 'project' | 'config' | 'plan'
>

/** The plan, texts and settings of a mission that has ended, with its number. */
export async function fromMission(
  kernel: ServerKernel,
  caller: Caller,
  uuid: string,
): Promise<{ given: Given; originId: number; origin: string }> {
  const mission = await requireMission(kernel, caller, uuid).catch((error) => {
    if (!(error instanceof Refused) || error.code !== 'NOT_FOUND') throw error
    throw Refused.field('VALIDATION_FAILED', 'fromMission', 'names no mission of this workspace')
  })
  if (!isEnd(mission.phase))
    throw new Refused('WRONG_STATE', 'The mission has not ended; a routine is made from one that has.')
  const version = mission.approved?.version
  const stored =
    version === undefined ? null : await kernel.store.missions.plan(caller.workspaceId, mission.id, version)
  if (!stored) throw new Refused('WRONG_STATE', 'No plan of the mission was ever approved.')
  const { goal, title, description, tags, priority, project, config } = mission
  const {
    version: _version,
    planner: _planner,
    routine: _routine,
    outcome: _outcome,
    autonomy: _autonomy,
    ...settings
  } = config
  return {
    given: {
      ...{ goal, title, description, tags, priority, project },
      config: RoutineConfig.parse(settings),
      plan: missionPlan(JSON.parse(stored.body!)),
    },
    originId: mission.id,
    origin: mission.uuid,
  }
}

export function newSettings(
  body: z.output<typeof RoutineCreate>,
  plan: MissionPlan,
): Omit<Checked, 'projectId' | 'variables' | 'schedule' | 'isEnabled'> {
  const { name, goal = name, title = plan.title ?? name, description = null } = body
  return {
    ...{ name, goal, title, description, plan },
    tags: body.tags ?? [],
    priority: body.priority ?? 5,
    project: body.project ?? plan.project,
    config: body.config ?? RoutineConfig.parse({}),
  }
}

/** Refused with everything that is wrong. */
export async function checkedSettings(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  settings: Checked,
): Promise<RoutineSettings> {
  const { plan, variables, schedule } = settings
  refuseOutside(plan)
  refuseCancelling(plan)
  refuseNames(settings)
  if (schedule) refuseSchedule(schedule, variables)
  const values = valuesOf(variables, {})
  // As a scheduled run would have it.
  if ('values' in values) missionPlan(planAsWritten(fillIn(settings, values.values).plan))
  await refuseAgents(kernel, workspaceId, plan, null)
  return {
    ...settings,
    plan: JSON.stringify(planAsWritten(plan)),
    planDigest: planDigest(plan),
    taskCount: plan.tasks.length,
  }
}

/** A task outside the plan is done once; the second run would find it ended. */
function refuseOutside({ tasks }: MissionPlan): void {
  const problems = tasks.flatMap(({ dependsOn }, i) =>
    dependsOn.flatMap((edge, j) =>
      outsideId(edge) === null
        ? []
        : {
            ...{ line: 0, column: 0, path: `tasks[${i}].dependsOn[${j}]`, at: `/tasks/${i}/dependsOn/${j}` },
            message: 'is a task outside the plan, which a routine cannot depend on',
          },
    ),
  )
  if (problems.length > 0) throw refusedPlan(problems)
}

function refuseNames(settings: Checked): void {
  const [problem] = schemaProblems(settings.variables)
  if (problem) throw Refused.field('VALIDATION_FAILED', `variables.${problem.at}`, problem.message)
  const [unknown] = unknownNames(settings, settings.variables)
  if (unknown !== undefined)
    throw Refused.field(
      'VALIDATION_FAILED',
      'variables',
      `has no property "${unknown}", which the plan or another text names as {{${unknown}}}`,
    )
}

type Times = AnswerOf<typeof ScheduleTimes>

/** The next three times of a schedule from now on, or why it is none. */
export function scheduleTimes(cron: string, timeZone: string, now: number): Times {
  const wrong = (field: 'cron' | 'timeZone', message: string): Times => ({
    nextTimes: [],
    problem: { field, message },
  })
  const read = readCron(cron)
  if ('problem' in read) return wrong('cron', read.problem)
  if (!isTimeZone(timeZone)) return wrong('timeZone', 'is no time zone, such as Europe/Berlin')
  // From any day: no schedule is this rare by chance.
  if (nextFire(read, timeZone, 0) === null) return wrong('cron', 'never fires')
  const nextTimes: string[] = []
  for (let at = nextFire(read, timeZone, now); at !== null && nextTimes.length < 3; ) {
    nextTimes.push(instant(at))
    at = nextFire(read, timeZone, at)
  }
  return { nextTimes, problem: null }
}

function refuseSchedule({ cron, timeZone }: Schedule, variables: VariablesSchema): void {
  const { problem } = scheduleTimes(cron, timeZone, 0)
  if (problem) throw Refused.field('VALIDATION_FAILED', `schedule.${problem.field}`, problem.message)
  const values = valuesOf(variables, {})
  if ('problems' in values) {
    const names = values.problems.map(({ at }) => `"${at}"`).join(', ')
    throw Refused.field(
      'VALIDATION_FAILED',
      'schedule',
      `gives no values, so all variables need a default and none may be required: ${names}`,
    )
  }
}
