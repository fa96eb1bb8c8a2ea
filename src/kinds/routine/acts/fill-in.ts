import { Refused } from '../../../pure/errors.ts'
import { lengthWith, type Templated, type VariableValues, withValues } from '../rules/variables.ts'

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
