import { parseTaskKey, type TaskKey } from '../../task/rules/task-keys.ts'
import { quote } from './problems.ts'

const LOOKS_LIKE =
  'a key looks like B-003-implement-dashboard: a track of 1 to 8 capital letters, a sequence of three digits and ' +
  'a description of letters, digits, _ and -'
const LONGEST_DESCRIPTION = 50
const NEARLY_A_KEY = /^[A-Z]{1,8}-([0-9]{1,20})-([a-zA-Z0-9_-]+)(::[1-9][0-9]{0,5})?$/

export const isTrack = (text: string) => /^[A-Z]{1,8}$/.test(text)

/** The parts of a key, or all its problems. */
export function readKey(text: string): { key: TaskKey; wrong?: never } | { key: null; wrong: string[] } {
  const key = parseTaskKey(text)
  if (key) return { key }
  const [, sequence, description] = NEARLY_A_KEY.exec(text) ?? []
  const wrong: string[] = []
  if (sequence !== undefined && (Number(sequence) === 0 || Number(sequence) > 999))
    wrong.push(`has the sequence ${sequence}; sequence must be 001 to 999`)
  if (description !== undefined && description.length > LONGEST_DESCRIPTION)
    wrong.push(
      `has a description part of ${description.length} characters; at most ${LONGEST_DESCRIPTION} are allowed`,
    )
  return { key: null, wrong: wrong.length > 0 ? wrong : [`is ${quote(text)}, not a task key; ${LOOKS_LIKE}`] }
}
