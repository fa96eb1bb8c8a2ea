/** What was changed of a task, in words. Pure. */

const FIELDS: Record<string, string> = {
  title: 'title',
  description: 'description',
  tags: 'tags',
  taskType: 'type',
  priority: 'priority',
  maxRetries: 'retries',
  maxContinuations: 'continuations',
  onlyAgent: 'agent',
  budget: 'budget',
  dependsOn: 'what it waits for',
}

const nameOf = (field: string) => FIELDS[field] ?? field.replaceAll(/([A-Z])/g, ' $1').toLowerCase()

function valueText(field: string, value: unknown): string {
  if (value === null || value === undefined) return field === 'onlyAgent' ? 'any' : 'none'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  return field === 'title' ? `“${String(value)}”` : String(value)
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

/** “changed priority from 5 to 8, title”. */
export function changeWords(payload: Readonly<Record<string, unknown>>): string {
  const fields = Array.isArray(payload.fields) ? payload.fields.map(String) : []
  const changes = (payload.changes ?? {}) as Record<string, { from?: unknown; to?: unknown } | undefined>
  const { removedDependencies: gone } = payload
  if (Array.isArray(gone))
    return `made it no longer wait for ${gone.length === 1 ? 'another task' : `${gone.length} other tasks`}`
  const said = fields.flatMap((field) => {
    const change = changes[field]
    if (!change) return [nameOf(field)]
    if ('from' in change && isSame(change.from, change.to)) return []
    const to = `to ${valueText(field, change.to)}`
    return [
      'from' in change
        ? `${nameOf(field)} from ${valueText(field, change.from)} ${to}`
        : `${nameOf(field)} ${to}`,
    ]
  })
  return said.length === 0 ? 'saved the task without a change' : `changed ${said.join(', ')}`
}
