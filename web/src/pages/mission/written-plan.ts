import type { MissionEdge, MissionTask, VerificationRule } from '../../../../src/core/plans/mission-plan.ts'

/** A plan as the server writes it: what has its default value is left out. Pure. */

export type PlannedTask = Pick<
  MissionTask,
  'tempId' | 'title' | 'agent' | 'capabilities' | 'contractor' | 'model' | 'dependsOn' | 'optional'
> & { verification: VerificationRule | null }

type Written = Partial<Omit<MissionTask, 'dependsOn'>> & {
  tempId: string
  dependsOn?: readonly (string | MissionEdge)[]
}

/** The tasks with what they leave out. */
export function tasksOf(plan: unknown): PlannedTask[] {
  const { tasks = [] } = (plan ?? {}) as { tasks?: readonly Written[] }
  return tasks.map((task) => ({
    tempId: task.tempId,
    title: task.title ?? task.description?.split('\n')[0] ?? task.tempId,
    agent: task.agent ?? null,
    capabilities: task.capabilities ?? [],
    contractor: task.contractor ?? null,
    model: task.model ?? null,
    verification: task.verification ?? null,
    optional: task.optional ?? false,
    dependsOn: (task.dependsOn ?? []).map((edge) =>
      typeof edge === 'string' ? { on: edge, kind: 'data' } : edge,
    ),
  }))
}

/** Who proposed it: agents by their name, keys are people's. */
export const proposerWords = (by: string) => (by.startsWith('agent:') ? by.slice(6) : 'a person')
