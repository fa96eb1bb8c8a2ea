import type { TaskCreate } from '../../../../../src/kinds/task/shapes/tasks.ts'
import { countText } from '../../../parts/wording.ts'
import { stepsOf } from '../plan-steps.ts'
import { upstreamPlaces } from './plan-figures.ts'
import { edgesOf, type Json, listIn, recordIn, textIn, valueIn } from './plan-value.ts'
import { factsOf } from './row-facts.ts'

/** One more task for a mission that runs: written as a task of a plan is, and sent as a task. Pure. */

/** A task of the mission, as the graph has it. */
export interface Existing {
  readonly id: string
  readonly title: string
  readonly state: string | null
}

export interface ExistingEdge {
  readonly from: string
  readonly to: string
}

/** The tasks that there are and, last, the new one. */
export function withAdded(nodes: readonly Existing[], edges: readonly ExistingEdge[], added: Json): Json[] {
  const waitsFor = new Map<string, string[]>()
  for (const { from, to } of edges) waitsFor.set(to, [...(waitsFor.get(to) ?? []), from])
  return [
    ...nodes.map(({ id, title }): Json => ({ tempId: id, title, dependsOn: waitsFor.get(id) ?? [] })),
    added,
  ]
}

const MOST_NAMED = 3
const ENDED_WELL = 'completed'

/** Where it would stand, and when it would begin. */
export function placeWords(tasks: readonly Json[], nodes: readonly Existing[]): string {
  const upstream = upstreamPlaces(tasks)
  const own = upstream.at(-1) ?? []
  const { stepOf, steps } = stepsOf(upstream)
  const step = stepOf.at(-1) ?? 0
  const beside = (steps[step]?.length ?? 1) - 1
  const names = own.slice(0, MOST_NAMED).map((place) => `“${factsOf(tasks[place]!).name.slice(0, 60)}”`)
  const more = own.length - names.length
  const after =
    names.length === 0 ? '' : `, after ${names.join(', ')}${more > 0 ? ` and ${countText(more)} more` : ''}`
  const isReady = own.every((place) => nodes[place]?.state === ENDED_WELL)
  const besides = beside === 0 ? '' : `, beside ${countText(beside)} other ${beside === 1 ? 'task' : 'tasks'}`
  const begins = isReady ? 'It can begin at once.' : 'It begins when they have ended.'
  return `Step ${step + 1}${after}${besides}. ${begins} Nothing waits for it, and the mission ends with it, too.`
}

const isSet = (value: unknown) => value !== undefined && value !== ''

/** For what is left empty, the mission decides. */
export function bodyOf(task: Json, mission: string): TaskCreate {
  const fields = ['description', 'taskType', 'successCriteria', 'agent', 'model', 'priority', 'maxRetries']
  const estimates = ['complexity', 'estimatedTokens', 'estimatedDurationMinutes', 'systemPrompt']
  const same = [...fields, ...estimates, 'triggerRule', 'verification', 'budget', 'timeouts'].flatMap(
    (field) => {
      const value = valueIn(task, field)
      return isSet(value) ? [[field, value]] : []
    },
  )
  const edges = edgesOf(task)
  const capabilities = listIn(task, 'capabilities')
  return {
    ...Object.fromEntries(same),
    title: textIn(task, 'title').trim(),
    mission,
    ...(valueIn(task, 'optional') === true ? { optional: true } : {}),
    ...(edges.length > 0 ? { dependsOn: edges.map(({ on, kind }) => ({ on, kind })) } : {}),
    ...(capabilities.length > 0 ? { requiredCapabilities: capabilities } : {}),
  }
}

/** Whom it needs the right to configure agents for. */
export const namesCommand = (task: Json) => textIn(recordIn(task, 'verification'), 'kind') === 'command'
