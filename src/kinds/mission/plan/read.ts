import { asMap } from './fields.ts'
import type { Located } from './located.ts'
import { locateValue } from './located-value.ts'
import { readMission } from './mission.ts'
import type { MissionPlan } from './mission-plan.ts'
import type { Plan } from './plan.ts'
import { type PlanProblem, Problems } from './problems.ts'
import { readProject } from './project.ts'
import { readSyntax } from './syntax.ts'

/** A plan has tracks (a project's) or tasks (a mission's). */
interface Plans {
  project: Plan
  mission: MissionPlan
}
export type PlanKind = keyof Plans

type Read<K extends PlanKind> = { [Each in K]: { ok: true; kind: Each; plan: Plans[Each] } }[K]
export type PlanReading<K extends PlanKind = PlanKind> = Read<K> | { ok: false; problems: PlanProblem[] }

/** A plan from YAML 1.2 or JSON, or all its problems, by line. Without a kind it may be a plan of either. */
export function readPlan<K extends PlanKind = PlanKind>(text: string, kind?: K): PlanReading<K> {
  return reading((problems) => readSyntax(text, problems), kind)
}

/** The same for a plan that is already parsed, such as a part of a request. Its problems have JSON pointers and no lines. */
export function checkPlan<K extends PlanKind = PlanKind>(value: unknown, kind?: K): PlanReading<K> {
  return reading((problems) => locateValue(value, problems), kind)
}

function reading<K extends PlanKind>(
  locate: (problems: Problems) => Located | null,
  wanted: K | undefined,
): PlanReading<K> {
  const problems = new Problems()
  const root = locate(problems)
  const read = root && readRoot(root, wanted, problems)
  if (!read || problems.any) return { ok: false, problems: problems.inOrder() }
  return { ok: true, ...read } as Read<K>
}

const WHAT_IT_MUST_BE: Record<PlanKind | 'either', string> = {
  project: 'a mapping with project and tracks',
  mission: 'a mapping with tasks',
  either: 'a mapping with tracks or tasks',
}

function readRoot(root: Located, wanted: PlanKind | undefined, problems: Problems) {
  const map = asMap(root, WHAT_IT_MUST_BE[wanted ?? 'either'], root.at, null, problems)
  if (!map) return null
  const kind = wanted ?? kindOf(map)
  if (kind === 'project') return { kind, plan: readProject(map, problems) }
  if (kind === 'mission') return { kind, plan: readMission(map, problems) }
  problems.report(map.at, null, "has neither tracks (a project's plan) nor tasks (a mission's plan)")
  return null
}

/** With both, `tracks` is reported as a field that a mission's plan does not have. */
function kindOf(map: Located & { kind: 'map' }): PlanKind | null {
  const has = (name: string) => map.entries.some((entry) => entry.key === name)
  return has('tasks') ? 'mission' : has('tracks') ? 'project' : null
}
