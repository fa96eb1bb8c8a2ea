import { BOARD_COLUMNS, type BoardColumn } from '../../../../src/views/board/columns.ts'
import type { Card } from '../../live/card.ts'
import { agentOf } from '../../things/task/card-words.ts'
import type { GroupBy } from './search.ts'

/** Tasks by mission, agent or project: in lanes of the kanban, or below heads of the list. Pure. */

/** The key of those that have none. */
export const NO_GROUP = ''

const KEY_OF: Record<GroupBy, (card: Card) => string | null> = {
  mission: ({ missionId }) => missionId,
  agent: agentOf,
  project: ({ project }) => project,
}

interface Group {
  /** A mission's id, an agent's or a project's slug. */
  readonly key: string
  readonly ids: readonly string[]
}

/** In the order of their names, those without one last; the tasks of a group keep theirs. */
export function grouped(
  ids: readonly string[],
  by: GroupBy,
  cardOf: (id: string) => Card | undefined,
  nameOf: (key: string) => string = (key) => key,
): Group[] {
  const groups = new Map<string, string[]>()
  for (const id of ids) {
    const card = cardOf(id)
    const key = (card && KEY_OF[by](card)) ?? NO_GROUP
    const known = groups.get(key)
    if (known) known.push(id)
    else groups.set(key, [id])
  }
  return [...groups]
    .map(([key, its]) => ({ key, ids: its }))
    .sort((one, other) => {
      if (one.key === NO_GROUP || other.key === NO_GROUP) return one.key === NO_GROUP ? 1 : -1
      return nameOf(one.key).localeCompare(nameOf(other.key), 'en')
    })
}

/** A lane shows no more rows; the rest is one link away. */
const MOST_ROWS = 12

type IdsByColumn = Readonly<Record<BoardColumn, readonly string[]>>

const forColumns = (idsIn: (name: BoardColumn) => readonly string[]): IdsByColumn => ({
  inbox: idsIn('inbox'),
  assigned: idsIn('assigned'),
  in_progress: idsIn('in_progress'),
  review: idsIn('review'),
  done: idsIn('done'),
})

export type LaneRow =
  | { readonly kind: 'head'; readonly key: string; readonly count: number; readonly isOpen: boolean }
  | { readonly kind: 'cards'; readonly key: string; readonly row: number; readonly ids: IdsByColumn }
  | { readonly kind: 'more'; readonly key: string; readonly count: number }

const keyOfRow = (row: LaneRow) => `${row.kind}:${row.kind === 'cards' ? `${row.row}:` : ''}${row.key}`

/** The rows of the lanes, from top to bottom: a head, then cards side by side. */
export function laneRows(
  groups: readonly Group[],
  columnOf: (id: string) => BoardColumn,
  isOpen: (key: string) => boolean,
  most = MOST_ROWS,
): (LaneRow & { id: string })[] {
  const rows: LaneRow[] = []
  for (const { key, ids } of groups) {
    rows.push({ kind: 'head', key, count: ids.length, isOpen: isOpen(key) })
    if (!isOpen(key)) continue
    const columns = forColumns((name) => ids.filter((id) => columnOf(id) === name))
    const height = Math.max(...BOARD_COLUMNS.map((name) => columns[name].length))
    for (let row = 0; row < Math.min(height, most); row++)
      rows.push({ kind: 'cards', key, row, ids: forColumns((name) => columns[name].slice(row, row + 1)) })
    const hidden = BOARD_COLUMNS.reduce((sum, name) => sum + Math.max(0, columns[name].length - most), 0)
    if (hidden > 0) rows.push({ kind: 'more', key, count: hidden })
  }
  return rows.map((row) => ({ ...row, id: keyOfRow(row) }))
}
