import { wantedId } from '../../../door/asked.ts'
import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { namedProject } from '../../../kinds/project/acts.ts'
import { Refused } from '../../../pure/errors.ts'
import { Name, Slug, Tag, Uuid } from '../../../pure/shapes.ts'
import { TASK_STATES, taskStates } from '../../../pure/states.ts'
import {
  type CardFilter,
  LISTED_FILTERS,
  type ListedFilter,
  passes,
  readFilter,
  type Wanted,
} from '../filter.ts'
import type { BoardFilter, Of } from '../postgres/conditions.ts'

/** The filter that a request names, checked and with inside ids. */

const isPriority = (text: string) => /^([1-9]|10)$/.test(text)
const fits = (shape: typeof Name) => (text: string) => shape.safeParse(text).success

/** What each value must be, and how that is said. */
const VALID: Record<ListedFilter, [isValid: (text: string) => boolean, otherwise: string]> = {
  state: [(text) => Object.hasOwn(TASK_STATES, text), 'names no state'],
  priority: [isPriority, 'names no priority from 1 to 10'],
  mission: [fits(Uuid), 'names no mission by its id'],
  project: [fits(Slug), 'names no project by its slug'],
  agent: [fits(Name), 'has a name that no agent has'],
  tag: [fits(Tag), 'has a value that is no tag'],
  type: [fits(Name), 'has a value that is no type'],
}

const MOST_VALUES = 100

function check(name: ListedFilter, { some, none }: Wanted): void {
  const [isValid, otherwise] = VALID[name]
  const values = [...some, ...none]
  if (values.length > MOST_VALUES)
    throw Refused.field('VALIDATION_FAILED', name, `has more than ${MOST_VALUES} values`)
  const wrong = values.find((value) => !isValid(value))
  if (wrong !== undefined) throw Refused.field('VALIDATION_FAILED', name, `${otherwise}: "${wrong}"`)
}

const of = <T>(wanted: Wanted | undefined, read: (text: string) => T): Of<T> | undefined =>
  wanted && { some: wanted.some.map(read), none: wanted.none.map(read) }

const asIs = (text: string) => text

export async function askedFilter(
  kernel: ServerKernel,
  caller: Caller,
  query: CardFilter,
): Promise<BoardFilter> {
  const asked = readFilter(query)
  for (const name of LISTED_FILTERS) if (asked[name]) check(name, asked[name])
  const { state, project } = asked
  const projects = new Map<string, number>()
  for (const slug of [...(project?.some ?? []), ...(project?.none ?? [])])
    projects.set(slug, (await namedProject(kernel, caller, slug))!)
  return {
    states: state && taskStates.filter((one) => passes(state, [one])),
    missions: of(asked.mission, (uuid) => wantedId(uuid)!),
    projects: of(project, (slug) => projects.get(slug)!),
    agents: of(asked.agent, asIs),
    tags: of(asked.tag, asIs),
    types: of(asked.type, asIs),
    priorities: of(asked.priority, Number),
    text: query.q,
  }
}
