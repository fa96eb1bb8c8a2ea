import type { LiveEvent } from '../../live/card.ts'
import { nameOfTask } from '../../requests/act-words.ts'
import type { Hue } from '../../theme/marks.ts'
import type { ListedEvent } from './event-list.ts'
import type { ACTORS, ENTITIES, LEVELS, SINCE } from './search.ts'

/** Events in words. Pure. */

export const ENTITY_WORDS: Record<(typeof ENTITIES)[number], string> = {
  task: 'Tasks',
  mission: 'Missions',
  run: 'Runs',
  agent: 'Agents',
  session: 'Workers',
  wakeup: 'Wakeups',
  routine: 'Routines',
  project: 'Projects',
  budget: 'Budgets',
  key: 'Keys',
  workspace: 'The workspace',
}

export const ACTOR_WORDS: Record<(typeof ACTORS)[number], string> = {
  key: 'People and programs',
  agent: 'Agents',
  coordinator: 'The coordinator',
  system: 'Baton',
  other: 'Others',
}

export const LEVEL_WORDS: Record<(typeof LEVELS)[number], { words: string; hue: Hue }> = {
  DEBUG: { words: 'Details', hue: 'wait' },
  INFO: { words: 'News', hue: 'wait' },
  WARN: { words: 'Warning', hue: 'ask' },
  ERROR: { words: 'Error', hue: 'bad' },
  CRITICAL: { words: 'Critical', hue: 'bad' },
}

export const SINCE_WORDS: Record<(typeof SINCE)[number], string> = {
  '1h': 'Last hour',
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}

/** Offered where a type is written; others can be, too. */
export const TYPE_PATTERNS = [
  'task_*',
  'task_failed',
  'task_retrying',
  'task_completed',
  'mission_*',
  'run_*',
  'agent_*',
  'claim_*',
  'wakeup_*',
  'session_*',
  'comment_*',
  'inbox_*',
  'routine_*',
  'project_*',
  'key_*',
  'limits_changed',
  'budget_*',
  'price_*',
] as const

/** The letters of a type: what the API accepts, so that a slip is told at once. */
export const isTypeText = (text: string) => /^[a-z_]+\*?(,[a-z_]+\*?)*$/.test(text)

/** Who did it, as people say it. */
export function actorWords({ by }: Pick<LiveEvent, 'by'>): string {
  if (by.kind === 'coordinator') return 'the coordinator'
  if (by.kind === 'system') return 'Baton'
  if (by.name !== null) return by.name
  return by.kind === 'key' ? 'a key' : (by.id ?? 'somebody')
}

/** What happened. Without a sentence, as of an event that a newer server wrote, its type in words. */
export const sentenceOf = ({ message, type }: Pick<ListedEvent, 'message' | 'type'>) =>
  message ?? type.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase())

export interface About {
  words: string
  to: string | null
}

/** What it is about, and where that is shown. */
export function aboutOf(
  event: Pick<ListedEvent, 'entityType' | 'entityId' | 'taskId' | 'missionId' | 'runId'> &
    Partial<Pick<ListedEvent, 'payload'>>,
): About {
  const { entityType, entityId, taskId, missionId, runId } = event
  if (entityType === 'run' && runId !== null) return { words: `run ${runId.slice(-4)}`, to: `/runs/${runId}` }
  if (taskId !== null) return { words: `task ${nameOfTask(taskId, undefined)}`, to: `/tasks/${taskId}` }
  if (missionId !== null) return { words: 'a mission', to: `/missions/${missionId}` }
  if (entityType === 'budget') return aboutBudget(entityId, event.payload)
  if (entityType === 'agent' && entityId !== null) return { words: entityId, to: `/agents/${entityId}` }
  if (entityType === 'key') return { words: 'a key', to: '/settings/keys' }
  if (entityType === 'workspace') return { words: 'the workspace', to: null }
  const isName = entityType === 'project' || entityType === 'session'
  // The worker of an agent is named after it.
  const name = entityId?.replace(/^agent:/, '')
  return { words: isName && name ? name : `a ${entityType === 'session' ? 'worker' : entityType}`, to: null }
}

/** "the budget of dev-1": agents and projects by their names, tasks by their numbers. One that was removed is no longer there. */
function aboutBudget(id: string | null, payload: ListedEvent['payload'] = {}): About {
  const { scope, scopeId, change } = payload
  const isNamed = typeof scopeId === 'string'
  const of =
    scope === 'workspace'
      ? 'the workspace'
      : scope === 'task' && isNamed
        ? `task ${nameOfTask(scopeId, undefined)}`
        : scope === 'mission'
          ? 'a mission'
          : isNamed
            ? scopeId
            : null
  return {
    words: of === null ? 'a budget' : `the budget of ${of}`,
    to: id === null || change === 'removed' ? null : `/budgets?budget=${id}`,
  }
}
