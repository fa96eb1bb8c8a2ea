import { ownValuesOf, wakingOf } from './own-fields.ts'
import { wakingText } from './schedule.ts'
import { spanWords } from './spans.ts'
import type { AgentRead } from './use-agent.ts'

/** The settings of any agent in words, those that are set. Pure. */
export function ownRows(agent: AgentRead): [label: string, value: string][] {
  const values = ownValuesOf(agent)
  const waking = wakingOf(agent.runtimeConfig)
  const text = (name: string) => String(values[name] ?? '')
  const rows: [string, string | false][] = [
    ['Display name', agent.name],
    ['Title', text('$title')],
    ['Role', text('$role')],
    ['Capabilities', text('$capabilities') || 'none'],
    ['Types of tasks', text('$types') || 'any'],
    ['Tasks at once', agent.maxConcurrentTasks === null ? 'any number' : String(agent.maxConcurrentTasks)],
    ['Only tasks that name it', values.$reserved === true && 'yes'],
    ['When it runs', wakingText(waking)],
    ['Pause between runs', waking.cooldownSec > 0 && spanWords(waking.cooldownSec)],
    ['Models to fall back to', text('$models')],
    ['Node', text('$node')],
    ['Each attempt starts over', values.$fresh === true && 'yes'],
  ]
  return rows.filter((row): row is [string, string] => row[1] !== false && row[1] !== '')
}
