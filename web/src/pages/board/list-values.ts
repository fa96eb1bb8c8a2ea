import { TASK_STATES, taskStates } from '../../../../src/pure/states.ts'
import type { BoardColumn } from '../../../../src/views/board/columns.ts'
import type { Card } from '../../live/card.ts'
import { nameOfTask } from '../../requests/act-words.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { agentOf, agesFrom, attemptWords, reasonOf, waitsWords } from '../../things/task/card-words.ts'

/** The columns of the list: what each is called, sorted by, and in a file. Pure. */

/** The usual order of the board's columns: what waits for a person first. */
export const IN_LIST = ['review', 'in_progress', 'assigned', 'inbox', 'done'] as const satisfies BoardColumn[]

type Value = string | number | null

/** What a cell needs beside the card. */
export interface Names {
  cardOf: (id: string) => Card | undefined
  missionOf: (id: string) => string
}

interface ListColumn {
  readonly words: string
  /** What a card is compared by; null: it has none, and comes last in either direction. Without it, nothing is sorted by it. */
  readonly sortBy?: (card: Card) => Value
  /** In a file. */
  readonly text: (card: Card, names: Names) => Value
  /** The largest is usually wanted, so the first click sorts it first. */
  readonly isLargestFirst?: true
  /** Not shown unless it is chosen. */
  readonly isExtra?: true
}

const lower = (text: string | null) => text?.toLocaleLowerCase('en') ?? null
const instantText = (at: number | null) => (at === null ? null : new Date(at).toISOString())

export const LIST_COLUMNS = {
  state: {
    words: 'State',
    sortBy: ({ state }) => IN_LIST.indexOf(TASK_STATES[state].board) * 100 + taskStates.indexOf(state),
    text: ({ state }) => STATE_LOOKS[state].word,
  },
  task: { words: 'Task', sortBy: ({ title }) => lower(title), text: ({ title }) => title },
  reason: {
    words: 'Now',
    text: (card, { cardOf }) => card.workNote ?? waitsWords(card, cardOf) ?? reasonOf(card),
  },
  agent: { words: 'Agent', sortBy: agentOf, text: agentOf },
  mission: {
    words: 'Mission',
    text: ({ missionId }, { missionOf }) => (missionId === null ? null : missionOf(missionId)),
    isExtra: true,
  },
  project: {
    words: 'Project',
    sortBy: ({ project }) => project,
    text: ({ project }) => project,
    isExtra: true,
  },
  type: {
    words: 'Type',
    sortBy: ({ taskType }) => taskType,
    text: ({ taskType }) => taskType,
    isExtra: true,
  },
  tags: { words: 'Tags', text: ({ tags }) => tags.join(', '), isExtra: true },
  priority: {
    words: 'Priority',
    sortBy: ({ priority }) => priority,
    text: ({ priority }) => priority,
    isLargestFirst: true,
  },
  attempt: {
    words: 'Attempt',
    sortBy: ({ attempt }) => (attempt === 0 ? null : attempt),
    text: attemptWords,
    isLargestFirst: true,
  },
  cost: {
    words: 'Cost',
    sortBy: ({ costUsd }) => (costUsd === null ? null : Number(costUsd)),
    text: ({ costUsd }) => costUsd,
    isLargestFirst: true,
  },
  tokens: {
    words: 'Tokens',
    sortBy: ({ tokensUsed }) => tokensUsed,
    text: ({ tokensUsed }) => tokensUsed,
    isLargestFirst: true,
    isExtra: true,
  },
  worked: {
    words: 'Worked',
    sortBy: ({ workMs }) => workMs,
    text: ({ workMs }) => (workMs === null ? null : Math.round(workMs / 1_000)),
    isLargestFirst: true,
    isExtra: true,
  },
  age: { words: 'Since', sortBy: agesFrom, text: (card) => instantText(agesFrom(card)) },
} as const satisfies Record<string, ListColumn>

export type ListColumnName = keyof typeof LIST_COLUMNS
export const listColumnNames = Object.keys(LIST_COLUMNS) as ListColumnName[]
export const columnNamed = (name: ListColumnName): ListColumn => LIST_COLUMNS[name]

/** Without the name of its task a row says nothing. */
export const ALWAYS: ListColumnName = 'task'
const USUAL = listColumnNames.filter((name) => columnNamed(name).isExtra !== true)

/** In the order of the table, whatever the order in the address. */
export const chosenColumns = (asked: readonly string[] | undefined): ListColumnName[] =>
  asked === undefined ? USUAL : listColumnNames.filter((name) => name === ALWAYS || asked.includes(name))

/** What the address says of these; nothing of the usual ones. */
export function columnsText(chosen: readonly ListColumnName[]): string[] | undefined {
  const isUsual = chosen.length === USUAL.length && USUAL.every((name) => chosen.includes(name))
  return isUsual ? undefined : listColumnNames.filter((name) => name === ALWAYS || chosen.includes(name))
}

/** A file has the number of the task beside its title. */
export const NUMBER_WORDS = 'Number'
export const numberText = (card: Card) => nameOfTask(card.id, card)
