import { edgesOf, idOf, type Json, listIn, nameOf, recordIn, textIn, valueIn } from './plan-value.ts'

/** What a row of the outline says of its task. Pure. */

interface RowFacts {
  readonly name: string
  readonly id: string
  readonly who: string
  readonly review: string | null
  readonly isOptional: boolean
}

const REVIEWS: Readonly<Record<string, string>> = {
  human: 'a person',
  agent: 'an agent',
  command: 'a command',
  auto: 'Baton',
}

/** Titles may be long: a row shows the beginning. */
const LONGEST_NAME = 200
const cut = (text: string) => (text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME - 1)}…` : text)

function whoOf(task: Json): string {
  const agent = textIn(task, 'agent')
  if (agent !== '') return agent
  const template = textIn(recordIn(task, 'contractor'), 'template')
  if (template !== '') return `made from ${template}`
  const preferred = textIn(task, 'preferredAgent')
  if (preferred !== '') return `${preferred} first`
  return listIn(task, 'capabilities').join(', ') || 'any agent'
}

function reviewOf(task: Json): string | null {
  const review = recordIn(task, 'verification')
  const kind = textIn(review, 'kind')
  return kind === '' ? null : textIn(review, 'agent') || (REVIEWS[kind] ?? kind)
}

/** Tasks that were not edited are the same values as before. */
const known = new WeakMap<Json, RowFacts>()

export function factsOf(task: Json): RowFacts {
  let facts = known.get(task)
  if (!facts) {
    facts = {
      name: cut(nameOf(task)) || 'Task without a name',
      id: idOf(task),
      who: cut(whoOf(task)),
      review: reviewOf(task),
      isOptional: valueIn(task, 'optional') === true,
    }
    known.set(task, facts)
  }
  return facts
}

const MOST_NUMBERS = 6

/** "after 1, 3": by their numbers; of many the first, and how many more. Those outside the plan have none. */
export function afterWords(task: Json, upstream: readonly number[]): string {
  const numbers = upstream.slice(0, MOST_NUMBERS).map((place) => place + 1)
  const more = edgesOf(task).length - numbers.length
  if (numbers.length === 0)
    return more === 0 ? '' : `after ${more} that ${more === 1 ? 'is' : 'are'} not in the plan`
  return `after ${numbers.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
