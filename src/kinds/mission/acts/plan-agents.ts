import { ownAgentAmong } from '../../../door/named-agents.ts'
import type { RunKernel } from '../../../door/server-kernel.ts'
import { IS_RESERVED } from '../../task/rules/acting.ts'
import type { MissionPlan, MissionTask } from '../plan/mission-plan.ts'
import type { PlanProblem } from '../plan/problems.ts'
import { refusedPlan } from '../plan/refusal.ts'
import { type Contracting, contractorProblems, problemAt } from './contractors.ts'

/** The agents that a plan names. */

/** Where a plan names agents that no plan may name, or that cannot be contracted. */
export async function agentProblems(
  kernel: RunKernel,
  workspaceId: number,
  plan: MissionPlan,
  mission: Contracting | null,
): Promise<PlanProblem[]> {
  const named = plan.tasks.flatMap((task, place) =>
    agentsOf(task).map(([field, agent]) => ({ place, field, agent })),
  )
  const own = await ownAgentAmong(
    kernel,
    workspaceId,
    named.map(({ agent }) => agent),
  )
  const reserved = named
    .filter(({ agent }) => own.has(agent))
    .flatMap(({ place, field }) => problemAt(place, field, IS_RESERVED))
  return reserved.length > 0 ? reserved : contractorProblems(kernel, workspaceId, plan, mission)
}

const agentsOf = ({
  agent,
  preferredAgent,
  verification,
  contractor,
}: MissionTask): [field: string, agent: string][] =>
  (
    [
      ['agent', agent],
      ['preferredAgent', preferredAgent],
      ['verification.agent', verification?.agent],
      ['contractor.template', contractor?.template],
    ] as const
  ).flatMap(([field, named]): [string, string][] => (named == null ? [] : [[field, named]]))

export async function refuseAgents(
  kernel: RunKernel,
  workspaceId: number,
  plan: MissionPlan,
  mission: Contracting | null,
): Promise<void> {
  const problems = await agentProblems(kernel, workspaceId, plan, mission)
  if (problems.length > 0) throw refusedPlan(problems)
}
