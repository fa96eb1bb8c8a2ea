import { randomInt } from 'node:crypto'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { uuidCarrying } from '../../../pure/ids.ts'
import { pricedByAgents } from '../../mission/acts/agent-models.ts'
import { yieldToOthers } from '../../mission/acts/large-plans.ts'
import { proposed } from '../../mission/acts/missions.ts'
import { refuseAgents } from '../../mission/acts/plan-agents.ts'
import { missionPlan } from '../../mission/acts/plan-tasks.ts'
import { planAsWritten } from '../../mission/plan/write.ts'
import { MissionConfig } from '../../mission/shapes/missions.ts'
import type { RoutineRecord } from '../record.ts'
import type { NewMission } from '../rules/command.ts'
import { explained, markedValues } from '../rules/material.ts'
import { type VariableValues, valuesOf } from '../rules/variables.ts'
import { fillIn } from './fill-in.ts'

/** The missions that a routine starts. */

/** One with these values, ready to be created. Refused when they do not fit. */
export async function missionOf(
  kernel: ServerKernel,
  caller: Caller,
  routine: RoutineRecord,
  given: VariableValues,
  /** Whether another program gave the values. */
  { areMaterial = false }: { areMaterial?: boolean } = {},
): Promise<NewMission> {
  const { workspaceId } = caller
  const found = valuesOf(routine.variables, given)
  if ('problems' in found) throw refusedValues(found.problems)
  const { values } = found
  const { goal, title, description } = routine
  // Replaced after the plan was read: what a value contains is never read as a part of the plan.
  const templated = { goal, title, description, plan: missionPlan(JSON.parse(routine.plan!)) }
  const filled = areMaterial
    ? explained(fillIn(templated, markedValues(routine.variables, values)))
    : fillIn(templated, values)
  const plan = missionPlan(planAsWritten(filled.plan))
  refuseTexts(filled)
  await refuseAgents(kernel, workspaceId, plan, null)
  await yieldToOthers(plan.tasks.length)
  const id = await kernel.store.missions.freshId(workspaceId)
  // The time in the id is only for people who sort by it: it is this node's.
  const uuid = uuidCarrying(id, Date.now(), randomInt(2 ** 22))
  const { tags, priority, projectId, project } = routine
  const { autonomy = 'autonomous', ...settings } = routine.config
  const config = MissionConfig.parse({
    ...settings,
    autonomy,
    routine: { id: routine.uuid, scheduledFor: null, variables: values },
  })
  const mission = { id, uuid, priority, projectId, project, config, createdBy: caller.actor }
  return {
    uuid,
    command: {
      ...{ kind: 'create', id, goal: filled.goal, title: filled.title, description: filled.description },
      ...{ tags, priority, projectId, project, config, startAt: null, planning: null },
      proposed: proposed(plan, mission, await pricedByAgents(kernel, workspaceId)),
      approvedBy: autonomy === 'approve' ? null : routine.approvedBy,
    },
  }
}

const refusedValues = (problems: readonly { at: string; message: string }[]): Refused => {
  const [first] = problems
  return new Refused('VALIDATION_FAILED', `variables.${first!.at} ${first!.message}.`, {
    errors: problems.map(({ at, message }) => ({ field: `variables.${at}`, message })),
  })
}

const LONGEST_TITLE = 500
const LONGEST_TEXT = 100_000

/** With the values in them they may have become too long, or empty. */
function refuseTexts({
  goal,
  title,
  description,
}: {
  goal: string
  title: string
  description: string | null
}) {
  const refused = (what: string, how: string) =>
    Refused.field('VALIDATION_FAILED', 'variables', `make the ${what} of the mission ${how}`)
  if (title === '') throw refused('title', 'empty')
  if (goal === '') throw refused('goal', 'empty')
  if (title.length > LONGEST_TITLE) throw refused('title', `longer than ${LONGEST_TITLE} characters`)
  if (goal.length > LONGEST_TEXT) throw refused('goal', `longer than ${LONGEST_TEXT} characters`)
  if ((description?.length ?? 0) > LONGEST_TEXT)
    throw refused('description', `longer than ${LONGEST_TEXT} characters`)
}
