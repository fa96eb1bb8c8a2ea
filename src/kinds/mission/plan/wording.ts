import type { z } from 'zod'
import { Slug } from '../../../pure/shapes.ts'
import type { Located } from './located.ts'
import { quote } from './problems.ts'

/** Describes a value for a message. */
export function describe(node: Located): string {
  if (node.kind === 'list') return 'a list'
  if (node.kind === 'map') return 'a mapping'
  if (node.kind === 'refused' || node.value === null) return 'nothing'
  return typeof node.value === 'string' ? quote(node.value) : `the ${typeof node.value} ${node.value}`
}

const KINDS: Record<string, string> = {
  string: 'text',
  number: 'a whole number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
}

/** Identifies the pattern that a text fails: zod's issues name it only this way. */
const notASlug = Slug.safeParse(' ').error?.issues[0] as { pattern?: string } | undefined

/** Why a value is not valid. Zod's messages mention regular expressions and types; plans are also written by others. */
export function wordIssue(issue: z.core.$ZodIssue, found = 'nothing'): string {
  // Those of our own shapes are already in plain words.
  if (issue.message.startsWith('must ')) return issue.message
  switch (issue.code) {
    case 'invalid_type': {
      const hint =
        issue.expected === 'string' && /^the (number|boolean)/.test(found) ? '; quotes make it text' : ''
      return `must be ${KINDS[issue.expected] ?? issue.expected}, not ${found}${hint}`
    }
    case 'invalid_value':
      return `must be ${issue.values.map(String).join(' or ')}, not ${found}`
    case 'too_big':
      if (issue.origin === 'string') return `must not be longer than ${issue.maximum} characters`
      if (issue.origin === 'array') return `must not have more than ${issue.maximum} entries`
      return `must be at most ${issue.maximum}, not ${found}`
    case 'too_small':
      return issue.origin === 'string'
        ? 'must not be empty'
        : `must be at least ${issue.minimum}, not ${found}`
    case 'invalid_format':
      return issue.pattern === notASlug?.pattern
        ? `must contain only letters, digits and . _ @ -, and begin with a letter or digit; it is ${found}`
        : 'must be one line without control characters'
    default:
      return issue.message
  }
}
