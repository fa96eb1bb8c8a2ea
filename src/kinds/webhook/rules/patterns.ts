/** Patterns of event types: `task_*`, which may be written `task.*`. */

export const asPattern = (given: string) => given.replaceAll('.', '_')

export const fits = (pattern: string, type: string) =>
  pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern
