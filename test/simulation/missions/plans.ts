import { TRIGGER_RULES } from '../../../src/pure/states.ts'
import type { Random } from '../random.ts'

/** Plans as people and planners write them. */

/** An agent that comes and goes. */
export const TEMPLATE = 'spare'

interface PlanTask {
  tempId: string
  title: string
  dependsOn: { on: string; kind: 'data' | 'order' }[]
  triggerRule: (typeof TRIGGER_RULES)[number]
  verification?: { kind: string; agent?: string; command?: string; threshold?: number }
  agent?: string
  contractor?: { template: string; name?: string }
  optional: boolean
  cancel?: boolean
  maxRetries: number
}

export interface PlanGiven {
  tasks: PlanTask[]
}

/** As plans are stored: without what is usual. */
export interface PlanStored {
  tasks: (Pick<PlanTask, 'tempId' | 'title'> & { dependsOn?: (string | { on: string })[] })[]
}

const KINDS = { none: 5, human: 1, agent: 4, named: 1, auto: 2, command: 0.3 }

function drawVerification(random: Random, agents: readonly string[]): Pick<PlanTask, 'verification'> {
  const kind = random.weighted(KINDS)
  if (kind === 'none') return {}
  const threshold = random.pick([{}, {}, { threshold: 0.95 }])
  if (kind === 'named') return { verification: { kind: 'agent', agent: random.pick(agents), ...threshold } }
  if (kind === 'command') return { verification: { kind, command: 'npm test' } }
  return { verification: { kind, ...(kind === 'agent' ? threshold : {}) } }
}

function drawTask(random: Random, agents: readonly string[], tempId: string, before: readonly string[]) {
  const dependsOn = before
    .filter(() => random.chance(0.35))
    .map((on) => ({ on, kind: random.pick(['data', 'data', 'order'] as const) }))
  return {
    ...{ tempId, title: `Task ${tempId}`, dependsOn },
    triggerRule: random.chance(0.5) ? 'all_success' : random.pick(TRIGGER_RULES),
    ...drawVerification(random, agents),
    ...drawWorker(random, agents),
    optional: random.chance(0.2),
    maxRetries: random.int(0, 2),
  } satisfies PlanTask
}

function drawWorker(random: Random, agents: readonly string[]): Pick<PlanTask, 'agent' | 'contractor'> {
  if (random.chance(0.15)) return { agent: random.pick(agents) }
  if (!random.chance(0.15)) return {}
  const template = random.pick([agents[0]!, TEMPLATE])
  return { contractor: { template, ...(random.chance(0.3) ? { name: 'Ada' } : {}) } }
}

/** Tasks that depend on earlier ones. */
export function drawPlan(random: Random, agents: readonly string[]): PlanGiven {
  const count = random.weighted({ 0: 0.2, 1: 2, 2: 2, 3: 2, 5: 2, 7: 1 })
  const names = Array.from({ length: Number(count) }, (_, i) => `t${i + 1}`)
  return { tasks: names.map((tempId, i) => drawTask(random, agents, tempId, names.slice(0, i))) }
}

/** The plan with some tasks left out, some changed and some added. */
export function changedPlan(random: Random, agents: readonly string[], plan: PlanStored): PlanStored {
  const kept = plan.tasks.filter(() => random.chance(0.8))
  const known = new Set(kept.map(({ tempId }) => tempId))
  const tasks: PlanStored['tasks'] = kept.map((task, i) => {
    const isKnown = (edge: string | { on: string }) => known.has(typeof edge === 'string' ? edge : edge.on)
    const other = { ...task, dependsOn: (task.dependsOn ?? []).filter(isKnown), cancel: false }
    if (random.chance(0.2)) other.title = `${task.title}, otherwise`
    if (random.chance(0.1)) other.cancel = true
    if (!random.chance(0.25)) return other
    const before = kept.slice(0, i).map(({ tempId }) => tempId)
    return { ...other, ...drawTask(random, agents, task.tempId, before) }
  })
  const added = Array.from({ length: random.int(0, 2) }, () => `x${random.int(1, 1_000_000)}`)
  for (const [i, tempId] of added.entries())
    if (!added.slice(0, i).includes(tempId))
      tasks.push(drawTask(random, agents, tempId, [...known, ...added.slice(0, i)]))
  return { tasks }
}

const WRONG = { prose: 1, cycle: 1, unknownAgent: 1, command: 0.5 }

/** What a planner answers that is no plan, or none that it may make. */
export function wrongPlan(random: Random, agents: readonly string[]): unknown {
  const task = drawTask(random, agents, 't1', [])
  switch (random.weighted(WRONG)) {
    case 'prose':
      return 'First we look around, then we see.'
    case 'cycle':
      return { tasks: [{ ...task, dependsOn: ['t2'] }, drawTask(random, agents, 't2', ['t1', 't1'])] }
    case 'unknownAgent':
      return { tasks: [{ ...task, agent: 'nobody' }] }
    case 'command':
      return { tasks: [{ ...task, verification: { kind: 'command', command: 'rm -rf /' } }] }
  }
}
