import { toast } from './parts/toasts.tsx'
import { readSearch, type SearchOf, type SearchTable } from './search-params.ts'

/** Checks a page's part of the address; what the page does not know is dropped, and the page says so. */
export const searchBy =
  <const Table extends SearchTable>(table: Table) =>
  (raw: Record<string, unknown>): SearchOf<Table> => {
    const { search, dropped } = readSearch(table, raw)
    if (dropped.length > 0)
      queueMicrotask(() =>
        toast({
          id: 'dropped-search',
          title: `Part of the address was ignored: ${dropped.join(', ')}.`,
          text: 'This page does not know it, or not with that value.',
        }),
      )
    return search
  }
