/** A JSON Patch as rows of a tree: each part of a path once, with the old and the new value. Pure. */

export interface Operation {
  readonly op: string
  readonly path: string
  readonly from?: string | undefined
  readonly value?: unknown
}

export interface PatchRow {
  readonly key: string
  readonly depth: number
  readonly name: string
  /** Null: only a part of the path of the rows below. */
  readonly change: { readonly op: string; readonly before: unknown; readonly after: unknown } | null
}

const segmentsOf = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))

/** The value at a path; undefined when there is none. */
function valueAt(value: unknown, segments: readonly string[]): unknown {
  let found = value
  for (const part of segments) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Record<string, unknown>)[part]
  }
  return found
}

export function patchRows(patch: readonly Operation[], accepted: unknown): PatchRow[] {
  const rows: PatchRow[] = []
  let open: readonly string[] = []
  const ordered = patch.toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
  for (const { op, path, from, value } of ordered) {
    const segments = segmentsOf(path)
    const parents = segments.slice(0, -1)
    let shared = 0
    while (shared < parents.length && parents[shared] === open[shared]) shared++
    for (let depth = shared; depth < parents.length; depth++)
      rows.push({ key: `${rows.length}`, depth, name: parents[depth]!, change: null })
    open = parents
    const before = valueAt(accepted, segments)
    const after = from === undefined ? value : valueAt(accepted, segmentsOf(from))
    rows.push({
      key: `${rows.length}`,
      depth: parents.length,
      name: segments.at(-1) ?? 'the whole result',
      change: { op, before: op === 'add' ? undefined : before, after: op === 'remove' ? undefined : after },
    })
  }
  return rows
}
