import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import { Refused } from '../../../pure/errors.ts'
import { LONGEST_COMMENT, type NewComment } from '../../comment/record.ts'

/** What people write, as comments. */

/** What is said with an act. Blank text says nothing. */
export function commentFrom(text: string | null | undefined): NewComment | undefined {
  const said = text?.trim() ?? ''
  return said === '' ? undefined : { uuid: freshUuid(), text: textOf(said, 'comment'), replyTo: null }
}

/** Without blanks around it; refused when it is too long or empty. */
export function textOf(given: string, field: string): string {
  const text = given.trim()
  const { length } = [...text]
  if (length >= 1 && length <= LONGEST_COMMENT) return text
  const found = length === 0 ? 'is blank' : `has ${length} characters`
  throw Refused.field('VALIDATION_FAILED', field, `${found}; a comment has 1 to ${LONGEST_COMMENT}`)
}
