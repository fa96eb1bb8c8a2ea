import { type AlertCause, alertWords, causeOf } from '../../../kinds/alert/causes.ts'
import { alertItemId } from '../../../kinds/alert/rules/decide.ts'
import { budgetItemId } from '../../../kinds/budget/rules/inbox.ts'
import { whyStopped } from '../../../kinds/budget/rules/words.ts'
import { isEnd } from '../../../kinds/mission/states.ts'
import { Refused } from '../../../pure/errors.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { InboxRow } from '../postgres.ts'
import type { Decision, InboxItem } from '../shapes.ts'

/** Items of the inbox: their ids, and what may be done. There is no table of them: each is read from what it is about. */

/** What an id says. */
export interface NamedItem {
  id: string
  about: 'task' | 'plan' | 'budget' | 'outcome' | 'finished' | 'agent' | 'alert' | 'spending' | 'raised'
  /** The UUID of the task, mission or budget, or the slug of the agent. */
  name: string
  /** The generation of the task, or the version of the plan, that the item was about. */
  generation: number | null
}

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const IDS = new RegExp(
  `^(?:(task|plan):(${UUID}):(\\d{1,10})|(budget|outcome|finished|alert|spending|raised):(${UUID})|(agent):([A-Za-z0-9][A-Za-z0-9._@-]{0,99}))$`,
)

export const noItem = (id: string) => new Refused('NOT_FOUND', `There is no item ${id} in this inbox.`)

export function namedIn(id: string): NamedItem {
  const [, bound, boundName, generation, loose, looseName, agent, slug] = IDS.exec(id) ?? []
  const about = (bound ?? loose ?? agent) as NamedItem['about'] | undefined
  if (about === undefined) throw noItem(id)
  return {
    id,
    about,
    name: (boundName ?? looseName ?? slug)!,
    generation: generation === undefined ? null : Number(generation),
  }
}

export const isOfMission = (about: NamedItem['about']) =>
  about === 'plan' || about === 'budget' || about === 'outcome' || about === 'finished'

/** Where the store finds it. */
export function placeOf({ about, name, id }: NamedItem) {
  if (about === 'agent') return { kind: 'agent' as const, num: 0, ref: name }
  if (about === 'spending') return { kind: 'budget' as const, num: 0, ref: name }
  if (about === 'raised') return { kind: 'alert' as const, num: 0, ref: name }
  const num = idCarriedBy(name)
  if (num === null) throw noItem(id)
  return { kind: about, num, ref: isOfMission(about) ? 'mission' : '' }
}

export function idOf({ kind, ref, taskId, missionId, generation, budget, alert }: InboxRow): string {
  if (kind === 'agent') return `agent:${ref}`
  if (alert) return alertItemId(alert.id)
  if (budget) return budgetItemId(budget.budgetId)
  if (kind === 'alert') return `alert:${taskId}`
  if (ref !== 'mission') return `task:${taskId}:${generation}`
  return kind === 'plan' ? `plan:${missionId}:${generation ?? 0}` : `${kind}:${missionId}`
}

/** The decisions that are possible. */
export function actionsFor(row: InboxRow): Decision[] {
  const { kind, ref, digest, adapterType, missionPhase, budget } = row
  switch (kind) {
    case 'question':
      return ['answer', 'skip', 'cancel']
    case 'review':
      return digest === null
        ? ['retry', 'skip', 'cancel']
        : ['approve', 'reject', 'fail', ...verdictsFor(row), 'skip', 'cancel']
    case 'budget':
      if (budget) return budget.why === 'unknown_price' ? ['allow', 'cancel'] : ['raise', 'move', 'cancel']
      return ref === 'mission' ? ['raise', 'cancel'] : ['raise', 'resume', 'skip', 'cancel']
    case 'dead_letter':
      return ['retry', 'archive']
    case 'plan':
      if (digest === null) return ['cancel']
      // A mission that runs is not planned again by its planner.
      return missionPhase === 'running'
        ? ['approve', 'reject', 'cancel']
        : ['approve', 'reject', 'replan', 'cancel']
    case 'outcome':
      return ['approve', 'reject', 'replan', 'cancel']
    case 'finished':
      return ['seen']
    case 'agent':
      // An agent that claims its work itself comes back with its next heartbeat.
      return adapterType === 'external' ? ['pause', 'terminate'] : ['resume', 'pause', 'terminate']
    case 'alert':
      if (row.alert) return ['acknowledge']
      return [...forItsAgent(row), 'skip', 'cancel']
  }
}

/** Another verdict: by any agent, or by the named one once it works again. */
function verdictsFor({ verification, judgeState }: InboxRow): Decision[] {
  if (verification === 'command') return ['verify']
  if (verification !== 'agent') return []
  return canResume(judgeState) ? ['verify', 'resume'] : ['verify']
}

function forItsAgent({ onlyAgent, onlyAgentState }: InboxRow): Decision[] {
  if (onlyAgent === null) return []
  return canResume(onlyAgentState) ? ['release', 'resume'] : ['release']
}

/** An agent that is silent comes back with its next heartbeat. */
const canResume = (state: InboxRow['judgeState']) => state === 'paused' || state === 'error'

const endIn = ({ missionPhase }: InboxRow) => (missionPhase && isEnd(missionPhase) ? missionPhase : null)

const titleOf = (cause: AlertCause, name: string) =>
  name === '' ? alertWords(cause) : `${alertWords(cause)}: ${name}`

export const itemView = (row: InboxRow): AnswerOf<typeof InboxItem> => ({
  id: idOf(row),
  kind: row.kind,
  title: row.alert ? titleOf(row.alert.cause, row.title) : row.title,
  about: {
    ...{ taskId: row.taskId, missionId: row.missionId, runId: row.runId, agent: row.agent },
    budgetId: row.budget?.budgetId ?? null,
  },
  reason: row.budget ? whyStopped(row.budget, row.budget.why) : row.reason,
  blocks: row.blocks,
  since: instant(row.since),
  askedBy: row.kind === 'question' || row.kind === 'review' ? row.agent : null,
  waitsFor: row.kind === 'review' ? row.judge : row.kind === 'alert' ? row.onlyAgent : null,
  preview: row.preview,
  expiresAt: instant(row.dueAt),
  generation: row.generation,
  digest: row.digest,
  end: row.kind === 'finished' ? endIn(row) : null,
  alert: row.alert && {
    ...row.alert,
    words: alertWords(row.alert.cause),
    todo: causeOf(row.alert.cause).todo,
  },
  actions: actionsFor(row),
})
