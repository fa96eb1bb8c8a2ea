/** A page ends at this size, or at the requested number of rows. */
const MOST_PAGE_BYTES = 8_000_000

export interface PageOf<T> {
  rows: T[]
  /** Whether there are more rows after these. */
  more: boolean
}

interface List {
  /** Selects `n` (1, 2, 3 … in the order of the list) and the key of each row, one row more than the page may have. */
  keys: string
  /** The columns of the key. */
  columns: readonly string[]
  /** Selects how many bytes of the response the row takes whose key is in `l`. */
  bytes: string
  limit: number
}

/**
 * The beginning of a statement that reads a page. `listed` are the keys, and `fitting` has one row: `n`, how many of them
 * fit, and `more`. Rows are measured one after the other and no further than the page goes, so that neither the database nor
 * the server ever holds more than a page and one row, however large the rows are. The first always fits: otherwise a list
 * with a row larger than a page could not be read to its end.
 */
export const fittingPage = ({ keys, columns, bytes, limit }: List) => `
  with recursive listed as materialized (${keys}),
    -- In arrays: looked up in the list itself, each row would cost a scan of all of them.
    in_order as materialized (
      select count(*)::int as count, ${columns.map((name) => `array_agg(l.${name} order by l.n) as ${name}`).join(', ')} from listed l),
    weighed (n, bytes) as (
      select 0, 0::bigint
      union all
      select l.n, w.bytes + (${bytes}) from weighed w cross join in_order o
       cross join lateral (select w.n + 1 as n, ${columns.map((name) => `o.${name}[w.n + 1] as ${name}`).join(', ')}) l
       where w.n < least(o.count, ${limit}) and w.bytes <= ${MOST_PAGE_BYTES}),
    fitting as materialized (
      select max(w.n) as n, (select o.count from in_order o) > max(w.n) as more
        from weighed w where w.n <= 1 or w.bytes <= ${MOST_PAGE_BYTES})`

/** The keys in this column that fit: as an array, so that rows are read by key whatever the planner estimates. */
export const fittingKeys = (column: string) =>
  `any(array(select l.${column} from listed l, fitting f where l.n <= f.n))`

export const MORE = '(select f.more from fitting f)'

/** The bytes of a value in a response: text with its quotes and escapes, JSON as it is stored. */
export const bytesOfText = (...texts: string[]) => `octet_length(to_json(array[${texts.join(', ')}])::text)`
export const bytesOfJson = (column: string) => `coalesce(octet_length(${column}::text), 0)`
