/** Filters in the address are typed by a table. Pure. */

type Reader<Value> = (text: string) => Value | undefined
export type SearchTable = Record<string, Reader<unknown>>
export type SearchOf<Table extends SearchTable> = {
  [Name in keyof Table]?: Exclude<ReturnType<Table[Name]>, undefined>
}

/** The kinds of values. */
export const param = {
  text: (text: string) => (text === '' ? undefined : text),
  /** `older`: what older addresses call some of them. */
  oneOf:
    <const Values extends readonly string[]>(
      values: Values,
      older: Readonly<Record<string, Values[number]>> = {},
    ) =>
    (text: string): Values[number] | undefined =>
      values.find((value) => value === text) ?? (Object.hasOwn(older, text) ? older[text] : undefined),
  wholeNumber: (text: string) => (/^\d{1,15}$/.test(text) ? Number(text) : undefined),
  /** Separated by commas. */
  list: (text: string) => (text === '' ? undefined : text.split(',')),
  flag: (text: string) => (text === '1' ? true : undefined),
}

/** The parts of an address that the table knows, and the names of the rest. */
export function readSearch<const Table extends SearchTable>(
  table: Table,
  raw: Record<string, unknown>,
): { search: SearchOf<Table>; dropped: string[] } {
  const search: Record<string, unknown> = {}
  const dropped: string[] = []
  for (const [name, value] of Object.entries(raw)) {
    if (value === undefined || value === null) continue
    // Links within the app give values, the address gives text.
    const known = Object.hasOwn(table, name) ? table[name]!(textOf(value)) : undefined
    if (known === undefined) dropped.push(name)
    else search[name] = known
  }
  return { search: search as SearchOf<Table>, dropped }
}

const textOf = (value: unknown) =>
  value === true ? '1' : Array.isArray(value) ? value.join(',') : String(value)

export const parseSearch = (text: string): Record<string, unknown> =>
  Object.fromEntries(new URLSearchParams(text))

export function writeSearch(search: Record<string, unknown>): string {
  const pairs = Object.entries(search).filter(
    ([, value]) => value !== undefined && value !== null && value !== false,
  )
  const text = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encoded(textOf(value))}`).join('&')
  return text === '' ? '' : `?${text}`
}

// Commas and colons are legal in a query, and easier to read.
const encoded = (text: string) => encodeURIComponent(text).replace(/%2C/g, ',').replace(/%3A/g, ':')
