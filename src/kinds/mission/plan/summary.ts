import { type EstimateOptions, estimateTasks, type PlanEstimate } from './estimate.ts'
import { graphOfMission, graphOfProject, idsByLayer } from './layers.ts'
import type { MissionPlan } from './mission-plan.ts'
import type { Plan } from './plan.ts'
import type { PlanKind } from './read.ts'

/** What is known about a valid plan before anything is created from it. */
export interface PlanSummary {
  kind: PlanKind
  taskCount: number
  /** Ids by layer: those of a layer wait only for those of layers before it. */
  layers: string[][]
  estimate: PlanEstimate
}

/** Tasks of a project's plan state neither complexity nor model, and their parts count as tasks of their own. */
export function summarise(plan: Plan | MissionPlan, options?: EstimateOptions): PlanSummary {
  const isProject = 'tracks' in plan
  const graph = isProject ? graphOfProject(plan) : graphOfMission(plan)
  const tasks = isProject
    ? graph.ids.map((id) => ({ id }))
    : plan.tasks.map((task) => ({ ...task, id: task.tempId }))
  return {
    kind: isProject ? 'project' : 'mission',
    taskCount: graph.ids.length,
    layers: idsByLayer(graph),
    estimate: estimateTasks(tasks, options),
  }
}
