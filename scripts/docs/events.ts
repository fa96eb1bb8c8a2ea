import { z } from 'zod'
import { EVENTS, eventTypes } from '../../src/kinds/catalogue.ts'
import type { EventType } from '../../src/kinds/events.ts'
import { levelOf } from '../../src/kinds/log.ts'
import { TASK_TRANSITIONS, type TransitionName } from '../../src/pure/states.ts'
import { code, madeFrom, page, table } from './markdown.ts'
import { initialStates } from './state-machines.ts'

const SOURCE = 'src/kinds/all.ts'

interface Shape {
  type?: string | string[]
  enum?: string[]
  items?: Shape
  properties?: Record<string, Shape>
  required?: string[]
}

export function eventsPage(): string {
  const changes = eventTypes.filter((type) => newState(type) !== null)
  const notes = eventTypes.filter((type) => newState(type) === null)
  return page(
    madeFrom(SOURCE),
    '# Events',
    `Every change in a workspace writes an event in the same transaction. Events are numbered from 1 without gaps, in commit order: a reader that has seen number n has missed nothing before it. Events are never changed. The catalogue is [${SOURCE}](../${SOURCE}).`,
    'Read them with `GET /api/v1/events?after=<seq>`, as a stream with `GET /api/v1/events/stream`, or over a WebSocket with `GET /api/v1/events/ws`.',
    'Every event has the fields `seq`, `type`, `entityType` and `entityId` (what it is about), `taskId`, `missionId` and `runId` (null when it concerns none), `generation`, `version`, `number` and `purpose` of the task (null when it concerns none), `from` and `to` (null when it does not change a state), `actor`, `by` (the actor as `kind`, `id` and `name`), `payload`, `level` and `at`. The events of a run have no `taskId`: their payload names the task. The payload depends on the type. A question mark marks an optional field; times in payloads are milliseconds since 1970.',
    'Every read answers with the header `Baton-Seq`: all events up to this number are in the answer, later ones may be. Continue with the events after it. Values in events are what they are then, never differences, so an event that the answer contains already does no harm. A move that ends a claim names the `agent` whose claim it was; `attempt` (or `attemptsSpent`, if present) is how many attempts are spent by then; `retryAt` is when the task is tried again, `retriesRemaining` how often that may happen; `durationMs` is how long the claim was held, and `errorType` what became of its holder, or the error code of its run. `inbox_added` and `inbox_closed` say what waits for a person ([people.md](people.md)).',
    '## Filters',
    'Lists, streams and sockets take the same filters, and all that are given must hold: `mission` (with its tasks), `task`, `agent` (a slug: what it caused, or what names it), `type` (types separated by commas; `task_*` matches all that begin with `task_`), `entity` (`run`, or `run:<id>`), `by` (who caused it: `key`, `agent`, `coordinator`, `system` or `other`, or one of them, as `agent:<slug>`) and `level` (levels separated by commas). Lists also take `from` and `to` (times), `order=desc` for the newest first, where `after` continues downwards, and `include=message` for a sentence with each event. `GET /api/v1/tasks/<id>/events` and `GET /api/v1/missions/<id>/events` are filtered in the same way.',
    'A filtered reader skips numbers, and learns up to which number the log was read: in `upTo` of a list and of each frame of a WebSocket, and in a stream by an event `looked` with the data `{"upTo":<seq>}`, whose id a browser resumes from. Continuing there misses nothing. A list may be short, or empty, before the end of the log: `nextCursor` is null only at its end.',
    'Over the WebSocket a client changes whose live output it gets: it sends `{"output":[<run ids>]}` (at most 16), `{"output":"all"}` or `{"output":[]}`, and is answered `{"following":…}` or `{"refused":<reason>}`.',
    'The level is the severity of an event in the logs: `GET /api/v1/tasks/<id>/logs` and `GET /api/v1/coordinator/logs` show events with their level and a message, newest first, filtered by `level`, `minLevel` and `event`. Holders can add their own lines to the log of a task, with a level of their choice.',
    '## State changes',
    'Each is one state change of one task. Replaying them in order gives the state of the task. The states they start from are in [state-machines.md](state-machines.md).',
    table(
      ['type', 'level', 'new state', 'payload'],
      changes.map((type) => [code(type), level(type), newState(type)!, payloadOf(type)]),
    ),
    '## Other events',
    'They do not change the state of a task.',
    table(
      ['type', 'level', 'payload'],
      notes.map((type) => [code(type), level(type), payloadOf(type)]),
    ),
  )
}

const level = (type: EventType) =>
  type === 'task_logged' ? 'set by the holder' : levelOf({ type, payload: {} })

/** The state an event leads to; null when it does not change the state. */
function newState(type: EventType): string | null {
  if (type === 'task_created')
    return [...new Set(initialStates().map(({ state }) => code(state)))].join(' or ')
  return type in TASK_TRANSITIONS ? code(TASK_TRANSITIONS[type as TransitionName].to) : null
}

function payloadOf(type: EventType): string {
  const { properties = {}, required = [] } = z.toJSONSchema(EVENTS[type]) as Shape
  const fields = Object.entries(properties).map(
    ([name, shape]) => `${code(required.includes(name) ? name : `${name}?`)} ${inWords(shape)}`,
  )
  return fields.length === 0 ? 'empty' : fields.join(', ')
}

/** `text`, `whole number`, `text or null`, `list of text`, … */
function inWords(shape: Shape): string {
  if (shape.enum) return shape.enum.map((value) => `"${value}"`).join(' or ')
  const kinds = [shape.type ?? 'anything'].flat()
  return kinds
    .map((kind) => (kind === 'array' ? `list of ${inWords(shape.items ?? {})}` : word(kind)))
    .join(' or ')
}

const WORDS: Record<string, string> = { string: 'text', integer: 'whole number', boolean: 'yes or no' }
const word = (kind: string) => WORDS[kind] ?? kind
