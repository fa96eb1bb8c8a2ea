import type { z } from 'zod'
import type { TaskCreate } from '../kinds/task/shapes/tasks.ts'
import { Refused } from '../pure/errors.ts'

/** The value parsed by the shape, or a refusal that names every invalid field. */
export function checked<S extends z.ZodType>(shape: S, value: unknown): z.output<S> {
  const { success, data, error } = shape.safeParse(value)
  if (success) return data
  const errors = error.issues.map(({ path, message }) => ({ field: path.join('.') || 'value', message }))
  throw new Refused(
    'VALIDATION_FAILED',
    errors.map(({ field, message }) => `${field}: ${message}`).join('; '),
    {
      errors,
    },
  )
}

/** A check or a limit that nobody keeps is worse than none: these are kept where Baton runs agents. */
export function refuseOfServers(tasks: readonly z.output<typeof TaskCreate>[]): void {
  for (const [place, { verification, budget }] of tasks.entries()) {
    const needsServer = (field: string) =>
      Refused.field('VALIDATION_FAILED', `tasks[${place}].${field}`, 'is kept by servers of Baton only')
    if (budget !== undefined) throw needsServer('budget')
    if (verification !== undefined && verification.kind !== 'human') throw needsServer('verification')
  }
}
