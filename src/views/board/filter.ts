import type { AnswerOf } from '../../pure/shapes.ts'
import type { Card } from './shapes.ts'

/** Which cards belong to a filtered board: what the database selects (views/board/postgres/board.ts), repeated here for pages. */

/** As in the address of a board and in the query of GET /board. */
export interface CardFilter {
  mission?: string | undefined
  project?: string | undefined
  /** It holds the task, or the task is for it alone. */
  agent?: string | undefined
  tag?: string | undefined
  /** Part of the title. */
  q?: string | undefined
}

type Filtered = Pick<
  AnswerOf<typeof Card>,
  'purpose' | 'missionId' | 'project' | 'agent' | 'tags' | 'title'
> & { holder: { agent: string } | null }

export function matches(card: Filtered, { mission, project, agent, tag, q }: CardFilter): boolean {
  return (
    card.purpose === 'work' &&
    (mission === undefined || card.missionId === mission) &&
    (project === undefined || card.project === project) &&
    (agent === undefined || card.agent === agent || card.holder?.agent === agent) &&
    (tag === undefined || card.tags.includes(tag)) &&
    (q === undefined || lower(card.title).includes(lower(q)))
  )
}

/** Letter by letter, as the database does: of a whole word, a Σ at its end would become another letter than elsewhere. */
const lower = (text: string) =>
  Array.from(text, (letter) => letter.toLowerCase().slice(0, letter.length)).join('')
