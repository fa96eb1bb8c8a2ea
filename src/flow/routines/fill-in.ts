import { Refused } from '../../core/errors.ts'
import { lengthWith, type Templated, type VariableValues, withValues } from '../../core/routines/variables.ts'

/** As many characters as the body of a mission may have bytes. */
const MOST_CHARACTERS = 32 * 1024 * 1024

/** The texts with the values in them. A short text that names a long value often would fill the memory, so they are measured first. */
export function fillIn<T extends Templated>(templated: T, values: VariableValues): T {
  if (lengthWith(templated, values) > MOST_CHARACTERS)
    throw Refused.field(
      'VALIDATION_FAILED',
      'variables',
      `make the texts of the mission longer than ${MOST_CHARACTERS} characters together`,
    )
  return withValues(templated, values)
}
