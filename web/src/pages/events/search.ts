import { param, type SearchOf } from '../../search-params.ts'

/** The parts of the log that its address names. */

export const LEVELS = ['DEBUG', 'INFO', 'WARN', 'ERROR', 'CRITICAL'] as const
export const ACTORS = ['key', 'agent', 'coordinator', 'system', 'other'] as const
export const SINCE = ['1h', '24h', '7d', '30d'] as const

export const ENTITIES = [
  'task',
  'mission',
  'run',
  'agent',
  'session',
  'wakeup',
  'routine',
  'project',
  'budget',
  'key',
  'workspace',
] as const

export const EVENTS_SEARCH = {
  /** Types separated by commas: `task_*` is all that begin with task_. */
  type: param.text,
  entity: param.oneOf(ENTITIES),
  by: param.oneOf(ACTORS),
  agent: param.text,
  task: param.text,
  mission: param.text,
  /** This level and higher ones. */
  level: param.oneOf(LEVELS),
  since: param.oneOf(SINCE),
  /** The list begins here. */
  at: param.wholeNumber,
  /** Opens the whole event. */
  event: param.wholeNumber,
}

export type EventsSearch = SearchOf<typeof EVENTS_SEARCH>
export type EventFilter = Omit<EventsSearch, 'at' | 'event'>

export const filterIn = ({ at: _at, event: _event, ...filter }: EventsSearch): EventFilter => filter
