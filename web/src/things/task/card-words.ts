import { causeOf } from '../../../../src/pure/cause.ts'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import type { Card } from '../../live/card.ts'
import { countText, reasonText } from '../../parts/wording.ts'
import { nameOfTask, shortKey } from '../../requests/act-words.ts'

/** What a card says, in as few words as fit. Pure. */

export const COLUMN_WORDS = {
  inbox: 'To do',
  assigned: 'Assigned',
  in_progress: 'In progress',
  review: 'Review',
  done: 'Done',
} as const satisfies Record<BoardColumn, string>

/** The name that people say: the rest of a key repeats the title. */
export const shortName = (id: string, card: Card | undefined): string => shortKey(nameOfTask(id, card))

/** The reason of most reviews, which says no more than that there is one. */
export const REVIEW_REQUIRED = 'The task requires review.'

const AWAITS = {
  result: 'Result to review',
  question: 'Has a question for you',
  budget: 'Budget spent',
  person: 'No attempts left',
  agent: 'No agent takes it',
} as const

/** Why it is in its state, or what it does now. Null: its state says enough. */
export function reasonOf(card: Card): string | null {
  const { state, step, reason, awaits } = card
  switch (state) {
    case 'running':
    case 'continuing':
      return step
    case 'awaiting_human':
      // The reason of a question is the word "question"; what is asked is on the task.
      return awaits === 'question'
        ? AWAITS.question
        : reason === null || reason === REVIEW_REQUIRED
          ? AWAITS.result
          : reasonText(reason)
    case 'budget_exceeded':
      return AWAITS.budget
    case 'failed':
    case 'awaiting_retry':
      return reason === null ? awaits && AWAITS[awaits] : causeOf(reason)
    case 'queued':
      return notTakenWords(card) ?? reason ?? (card.agent === null ? null : `Reserved for ${card.agent}`)
    case 'verifying':
      return card.verification === 'human' ? 'Waiting for a person' : 'Being verified'
    case 'completed':
      return card.summary === null ? null : plainLine(card.summary)
    default:
      return reason
  }
}

const MARKS = /(?<![\w`*])[`*]+(?=\S)|(?<=\S)[`*]+(?![\w`*])|^\s*(?:#{1,6}|[-*+]|\d+\.)\s+/gm

/** Markdown as one line of text. */
const plainLine = (text: string) => text.replace(MARKS, '').replace(/\s+/g, ' ').trim()

const STANDS = {
  paused: 'is paused',
  error: 'is stopped',
  offline: 'is offline',
  terminated: 'is gone',
} as const

function agentStands({ slug, state, stateReason, leaving }: NotTakenAgent): string {
  if (leaving && state !== 'terminated') return `${slug} is leaving`
  const why = state === 'error' && stateReason !== null ? `: ${plainLine(stateReason)}` : ''
  return state === 'idle' || state === 'running'
    ? `${slug} does not take it`
    : `${slug} ${STANDS[state]}${why}`
}

type NotTakenAgent = NonNullable<Card['notTaken']>['agents'][number]

/** Why nobody takes a queued task; null: somebody can. */
function notTakenWords({ notTaken, agent }: Card): string | null {
  if (notTaken === null) return null
  const { agents, agentCount, requiredCapabilities } = notTaken
  const [first] = agents
  if (!first) {
    if (agent !== null) return `There is no agent ${agent}`
    return requiredCapabilities.length > 0
      ? `No agent can do ${requiredCapabilities.join(', ')}`
      : 'No agent can take it'
  }
  if (agentCount === 1) return agentStands(first)
  const more = agentCount - agents.length
  return `No agent is free: ${agents.map(agentStands).join(', ')}${more > 0 ? ` and ${countText(more)} more` : ''}`
}

/** "waits for B-002 and 2 more". Tasks whose cards are not known are named by their numbers. */
export function waitsWords(card: Card, cardOf: (id: string) => Card | undefined): string | null {
  const [first] = card.waitsFor
  if (card.openDeps === 0 || first === undefined) return null
  const more = card.openDeps - 1
  return `Waiting for ${shortName(first, cardOf(first))}${more > 0 ? ` and ${more} more` : ''}`
}

/** Who works on it, or alone may; of what has ended, who did it. */
export const agentOf = ({ holder, agent, lastAgent, completedAt }: Card): string | null =>
  holder?.agent ?? (completedAt === null ? agent : (lastAgent ?? agent))

/** The moment that its age is counted from: when it came into its state, or for those that wait, when it was made. */
export const agesFrom = ({ state, createdAt, stateSince, completedAt }: Card) =>
  completedAt ?? (state === 'queued' || state === 'pending' ? createdAt : stateSince)

/** "2/4": the attempt it is in, of all that it has. Nothing is said before the first. */
export const attemptWords = ({ attempt, maxRetries }: Card) =>
  attempt === 0 ? null : `${Math.min(attempt, maxRetries + 1)}/${maxRetries + 1}`

export const PRIORITIES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const

/** The key of a priority: 0 stands for 10. */
export const keyOfPriority = (priority: number) => String(priority % 10)
