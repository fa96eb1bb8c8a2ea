import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { BoardOnScreen } from '../../live/hooks.ts'
import { useLive } from '../../live/provider.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { showRefusal } from '../../parts/show-refusal.ts'
import { toast } from '../../parts/toasts.tsx'
import { countText } from '../../parts/wording.ts'
import { missionNamesQuery } from '../../requests/names.ts'
import { csvOf } from './csv.ts'
import { grouped } from './grouped.ts'
import { chosenColumns } from './list-values.ts'
import { readRows } from './listed.ts'
import type { BoardSearch } from './search.ts'
import { sorted, sortIn } from './sorted.ts'
import { MOST_SORTED } from './use-whole-board.ts'

const PAGE = 1_000
/** Spreadsheets take a file without it for another alphabet. */
const BYTE_ORDER_MARK = '\uFEFF'

/** Reads on until all is there, or as much as is sorted at once. */
async function readWhole(board: BoardOnScreen): Promise<{ ids: string[]; isAll: boolean }> {
  for (let before = -1; ; ) {
    const { ids, unread } = readRows(board.column)
    const [column] = unread
    if (column === undefined) return { ids, isAll: true }
    if (ids.length >= MOST_SORTED || ids.length === before)
      return { ids: ids.slice(0, MOST_SORTED), isAll: false }
    before = ids.length
    await board.loadMore(column, PAGE)
  }
}

/** Saves the rows of the list, in its order, as a file. It says when there are more than it has. */
export function useSaveCsv(board: BoardOnScreen, search: BoardSearch, count: number) {
  const { world } = useLive()
  const queries = useQueryClient()
  const [isSaving, setSaving] = useState(false)
  const save = async () => {
    setSaving(true)
    try {
      const [{ ids, isAll }, missions] = await Promise.all([
        readWhole(board),
        queries.ensureQueryData(missionNamesQuery),
      ])
      const titles = new Map(missions.items.map(({ id, title }) => [id, title]))
      const cardOf = (id: string) => world.shown(id)
      const names = { cardOf, missionOf: (id: string) => titles.get(id) ?? id }
      const sort = sortIn(search.sort)
      const inOrder = sort ? sorted(ids, sort, cardOf) : ids
      const { group } = search
      const rows = group
        ? grouped(inOrder, group, cardOf, group === 'mission' ? names.missionOf : undefined).flatMap(
            (one) => one.ids,
          )
        : inOrder
      const cards = rows.flatMap((id) => cardOf(id) ?? [])
      const text = csvOf(cards, chosenColumns(search.columns), names)
      saveFile('tasks.csv', [BYTE_ORDER_MARK, text], 'text/csv;charset=utf-8')
      const cut = `The first ${countText(cards.length)} of ${countText(count)} tasks. Filter the board to get the others.`
      toast({
        kind: 'done',
        title: `${countText(cards.length)} ${cards.length === 1 ? 'task' : 'tasks'} saved as tasks.csv.`,
        ...(isAll ? {} : { text: cut }),
      })
    } catch (error) {
      showRefusal(error)
    } finally {
      setSaving(false)
    }
  }
  return { save: () => void save(), isSaving }
}
