import { toast } from './parts/toasts.tsx'
import { readSearch, type SearchOf, type SearchTable } from './search-params.ts'

/** Checks a page's part of the address; what the page does not know is dropped. Pure: the router asks also for links that nobody opens. */
export const searchBy =
  <const Table extends SearchTable>(table: Table) =>
  (raw: Record<string, unknown>): SearchOf<Table> =>
    readSearch(table, raw).search

/** Says what the page did not know of an address that was opened, as one that was sent or typed. */
export function tellDropped(table: SearchTable, raw: Record<string, unknown>): void {
  const { dropped } = readSearch(table, raw)
  if (dropped.length > 0)
    toast({
      id: 'dropped-search',
      title: `Part of the address was ignored: ${dropped.join(', ')}.`,
      text: 'This page does not know it, or not with that value.',
    })
}
