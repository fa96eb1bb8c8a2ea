/** Fields are read in both spellings, `dependsOn` and `depends_on`, and under their other names. */

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Names that mean the same as a field. */
const OTHER_NAMES: Record<string, readonly string[]> = {
  id: ['tempId'],
  tempId: ['id'],
  type: ['taskType'],
  taskType: ['type'],
  capabilities: ['requiredCapabilities'],
}

type Names = ReadonlyMap<string, string>
const known = new WeakMap<object, Names>()

/** Each name that a field may be given under, with the name it has in the shapes. */
export function namesIn(shapes: object): Names {
  let names = known.get(shapes)
  if (!names) {
    const spelled = Object.keys(shapes).flatMap((field) =>
      [field, ...(OTHER_NAMES[field] ?? [])].flatMap((name): [string, string][] => [
        [name, field],
        [camelCase(name), field],
        [snakeCase(name), field],
      ]),
    )
    names = new Map(spelled)
    known.set(shapes, names)
  }
  return names
}
