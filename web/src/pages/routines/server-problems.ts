import { Problem } from '../../../../src/client/client.ts'

/** "must be a number" becomes "It must be a number."; a sentence stays one. */
const sentence = (message: string) =>
  `${/^[a-z]/.test(message) ? 'It ' : ''}${message}.`.replace(/\.\.$/, '.')

/** What the server did not accept, by field; `rest` is the refusal if it names no field of the form. Pure. */
export function fieldProblems(error: Error | null, under = '') {
  const fields: Record<string, string> = {}
  for (const { field, message } of error instanceof Problem ? error.errors : [])
    if (field.startsWith(under)) fields[field.slice(under.length)] ??= sentence(message)
  return { fields, rest: Object.keys(fields).length > 0 ? null : error }
}
