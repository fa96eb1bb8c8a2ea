import { MOST_CONTRACTORS } from '../../agent/rules/contractors.ts'
import { LARGEST_PLAN_TASKS } from '../../mission/plan/plan.ts'
import { planSchema } from '../../mission/plan/schema.ts'
import type { MissionConfig } from '../../mission/shapes/missions.ts'

/** What a planner is asked. */

/** An agent that tasks can be given to. */
export interface RosterEntry {
  slug: string
  role: string | null
  capabilities: readonly string[]
  taskTypes: readonly string[]
  model: string | null
  /** Dollars for a million tokens; null: unknown. */
  price: { input: string; output: string } | null
}

export interface PlanningRequest {
  goal: string
  description: string | null
  config: MissionConfig
  roster: readonly RosterEntry[]
  /** The plan that a person sent back, and why. */
  previous: { plan: unknown; comment: string | null } | null
}

export function planningText(request: PlanningRequest): string {
  const { goal, description, config, roster, previous } = request
  const sections = [
    'Plan how to reach a goal. Do not work on it: your result is the plan, which others carry out.',
    `## The goal\n\n${goal}`,
    description,
    previous && previousText(previous),
    `## Who can work on it\n\n${roster.length === 0 ? 'No agent is registered yet.' : roster.map(entryText).join('\n')}`,
    roster.length === 0 ? null : CONTRACTORS,
    `## Limits\n\n${limitsOf(config).join('\n')}`,
    `## The shape of a plan\n\nTasks without dependencies run at the same time. A task gets the results of the tasks it depends on. Give each task all it needs to know, and success criteria that somebody else can check.\n\n${JSON.stringify(planSchema())}`,
    '## Your answer\n\nEnd with the plan as one JSON object, and nothing after it. Problems in it are sent back to you.',
  ]
  return sections.filter((section) => section !== null && section !== '').join('\n\n')
}

const CONTRACTORS = `A task may name a contractor instead of an agent: {"contractor": {"template": "<one of these>", "name": "<any name>"}}. It is a copy of that agent, made for this mission, and works on nothing but the tasks that name it. Tasks with the same template and name share one. Use it where work must not wait for what an agent does elsewhere.`

const previousText = ({ plan, comment }: NonNullable<PlanningRequest['previous']>) =>
  `## The plan before\n\nA person sent it back${comment === null ? '' : `: ${comment}`}\n\n${JSON.stringify(plan)}`

function entryText({ slug, role, capabilities, taskTypes, model, price }: RosterEntry): string {
  const facts = [
    role,
    capabilities.length > 0 ? `can ${capabilities.join(', ')}` : null,
    taskTypes.length > 0 ? `takes only tasks of type ${taskTypes.join(', ')}` : null,
    model,
    price && `$${price.input} in and $${price.output} out for a million tokens`,
  ]
  const known = facts.filter((fact) => fact !== null && fact !== '')
  return `- ${slug}${known.length > 0 ? `: ${known.join('; ')}` : ''}`
}

function limitsOf({ budget, maxParallel, commands }: MissionConfig): string[] {
  const { maxUsd, maxTokens } = budget ?? {}
  return [
    `- At most ${LARGEST_PLAN_TASKS} tasks, and ${MOST_CONTRACTORS} contractors.`,
    ...(maxUsd === undefined ? [] : [`- The whole mission may cost at most $${maxUsd}.`]),
    ...(maxTokens === undefined ? [] : [`- The whole mission may use at most ${maxTokens} tokens.`]),
    ...(maxParallel === undefined ? [] : [`- At most ${maxParallel} tasks run at once.`]),
    commands && commands.length > 0
      ? `- A verification by command may only use: ${commands.map((one) => JSON.stringify(one)).join(', ')}.`
      : '- No verification by command.',
  ]
}
