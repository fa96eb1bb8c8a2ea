/** JSON pointers (RFC 6901): "/issue/labels/0/name". */

/** What it points to; undefined: nothing. Only own fields count: "/constructor" points to nothing that was not sent. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const name of pointer.split('/').slice(1)) {
    const field = name.replaceAll('~1', '/').replaceAll('~0', '~')
    if (value === null || typeof value !== 'object') return undefined
    if (Array.isArray(value) && !/^(?:0|[1-9]\d{0,8})$/.test(field)) return undefined
    if (!Object.hasOwn(value, field)) return undefined
    value = (value as Record<string, unknown>)[field]
  }
  return value
}
