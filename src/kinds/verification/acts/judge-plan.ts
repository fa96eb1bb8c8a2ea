import type { RunKernel } from '../../../door/server-kernel.ts'
import { refusalOf, throwIfNotLeader } from '../../../kernel/caller.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { Refusal } from '../../../pure/errors.ts'
import { answerIn, lastFenceIn } from '../../../pure/json-in-text.ts'
import { modelOfAgent } from '../../agent/rules/model.ts'
import { pricedByAgents } from '../../mission/acts/agent-models.ts'
import { proposed } from '../../mission/acts/missions.ts'
import { agentProblems } from '../../mission/acts/plan-agents.ts'
import type { MissionPlan, MissionTask } from '../../mission/plan/mission-plan.ts'
import { isProblemList, type PlanProblem } from '../../mission/plan/problems.ts'
import { refusedPlan } from '../../mission/plan/refusal.ts'
import type { MissionRecord } from '../../mission/record.ts'
import { isBeingPlanned } from '../../mission/rules/outcome.ts'
import { givenMissionPlan } from '../../project/acts/read-plan-apart.ts'
import type { TaskRecord } from '../../task/record.ts'
import { cancelTasks } from './verdicts.ts'
import { giveVerdict, waitingResult } from './verify.ts'

/** What follows from the answer of a planner. */

/** A valid plan becomes the next version of the mission's plan. An invalid one goes back, with all its problems. */
export async function judgePlan(kernel: RunKernel, caller: Caller, record: TaskRecord): Promise<void> {
  const { workspaceId } = caller
  const task = await waitingResult(kernel, workspaceId, record)
  if (!task) return
  const mission = await kernel.store.missions.find(workspaceId, record.missionId!)
  if (!mission || !isBeingPlanned(mission)) return cancelTasks(kernel, caller, [record])
  const { id: taskId, uuid, generation, agent } = task.record
  const given = { verifier: 'baton', score: null, verification: null }
  const refusal = await refusalOf(async () => {
    const plan = await planIn(task.result.data)
    const problems = await objectionsTo(kernel, workspaceId, plan, mission)
    if (problems.length > 0) throw refusedPlan(problems)
    const accepted = { kind: 'verdict', verdict: 'passed', note: null, generation, given } as const
    const command = {
      kind: 'propose',
      proposed: proposed(plan, mission, await pricedByAgents(kernel, workspaceId)),
      proposedBy: `agent:${agent}`,
      plannerModel: await plannerModel(kernel, workspaceId, task.record),
      changes: [{ taskId, uuid, command: accepted, expects: 'awaits_verdict' }],
    } as const
    return throwIfNotLeader(
      await kernel.run(caller, { on: 'mission', key: mission.uuid, uuid: mission.uuid, command }),
    )
  })
  // Another node judged it meanwhile: the plan must not come twice, perhaps in place of a newer one by a person.
  if (!refusal || refusal.code === 'CHANGED_SINCE') return
  // A person was faster: they cancelled the mission, or planned it themselves.
  if (refusal.code === 'WRONG_STATE') return cancelTasks(kernel, caller, [record])
  const note = problemText(refusal)
  await giveVerdict(kernel, caller, record, { kind: 'verdict', verdict: 'failed', note, generation, given })
}

/** The fallback that it used, or the model of its agent. */
async function plannerModel(kernel: RunKernel, workspaceId: number, { agent, modelUse }: TaskRecord) {
  const [found] = await kernel.store.agents.list(workspaceId, { slugs: [agent!] }, 1)
  return modelUse?.usedModel ?? (found ? modelOfAgent(found.record) : null)
}

/** A plan as a value, or as text: planners write words around it. */
function planIn(result: unknown): Promise<MissionPlan> {
  const answer = answerIn(result)
  return givenMissionPlan(typeof answer === 'string' ? (lastFenceIn(answer) ?? answer) : answer)
}

/** What a planner may not do, or cannot know: it names agents that are not there, or commands that are not allowed. */
async function objectionsTo(
  kernel: RunKernel,
  workspaceId: number,
  plan: MissionPlan,
  mission: MissionRecord,
): Promise<PlanProblem[]> {
  const listed = await kernel.store.agents.list(workspaceId, {}, 10_000)
  const isThere = ({ record }: (typeof listed)[number]) =>
    record.kind === 'roster' && record.state !== 'terminated'
  const slugs = new Set(listed.filter(isThere).map(({ record }) => record.slug))
  const named = plan.tasks.flatMap((task, place) =>
    objections(task, slugs, mission.config.commands ?? []).map(([field, message]) => ({
      ...{ line: 0, column: 0, path: `tasks[${place}].${field}`, message },
      at: `/tasks/${place}/${field.replace('.', '/')}`,
    })),
  )
  return [...named, ...(await agentProblems(kernel, workspaceId, plan, mission))]
}

function objections(
  { agent, preferredAgent, verification }: MissionTask,
  slugs: ReadonlySet<string>,
  commands: readonly string[],
): [field: string, message: string][] {
  const found: [string, string][] = []
  const unknown = (slug: string) => `is "${slug}", which is no agent of this workspace`
  if (agent !== null && !slugs.has(agent)) found.push(['agent', unknown(agent)])
  if (preferredAgent !== null && !slugs.has(preferredAgent))
    found.push(['preferredAgent', unknown(preferredAgent)])
  const { agent: verifier, command } = verification ?? {}
  if (verifier !== undefined && !slugs.has(verifier)) found.push(['verification.agent', unknown(verifier)])
  if (command !== undefined && !commands.includes(command))
    found.push(['verification.command', 'is not among the commands that plans by agents may use'])
  return found
}

const MOST_PROBLEMS = 100

/** Every problem with its place, for the planner's next turn. */
function problemText({ detail, problems }: Refusal): string {
  if (!isProblemList(problems)) return detail
  const lines = problems.slice(0, MOST_PROBLEMS).map(({ at, message }) => `- ${at || '/'}: ${message}`)
  const more = problems.length - lines.length
  return `The plan is not valid:\n${lines.join('\n')}${more > 0 ? `\n- and ${more} more` : ''}`
}
