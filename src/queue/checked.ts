import type { z } from 'zod'
import { Refused } from '../core/errors.ts'

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
