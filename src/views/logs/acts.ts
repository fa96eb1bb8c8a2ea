import type { z } from 'zod'
import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { eventTypes } from '../../kinds/catalogue.ts'
import type { EventType } from '../../kinds/events.ts'
import { isNameOfBaton, levelOf, messageOf, typesAt } from '../../kinds/log.ts'
import { briefView, command, readTask } from '../../kinds/task/acts/tasks.ts'
import type { EventWithTask } from '../../kinds/task/record.ts'
import { Refused } from '../../pure/errors.ts'
import { LOG_LEVELS, type LogLevel } from '../../pure/event.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import * as api from './api.ts'
import { type LogFilter, logOfTask, logOfWorkspace } from './postgres.ts'
import { LineEvent, type LogEntryView, type LogQuery } from './shapes.ts'

/** Logs are views of the event log: each entry has a level and a message. */

type Entry = AnswerOf<typeof LogEntryView>
type Wanted = Pick<z.output<typeof LogQuery>, 'level' | 'minLevel' | 'event'>

function filterOf(wanted: Wanted): LogFilter {
  const levels = levelsIn(wanted)
  const names = namesIn(wanted, (name) => isEventType(name) || isNameOfLine(name))
  const types = typesAt(levels ?? LOG_LEVELS).filter(among(names))
  // Lines are included without an event filter, by their type, or by their own event names.
  const allLines = names === null || names.includes('task_logged')
  const lineEvents = allLines ? null : names.filter((name) => !isEventType(name))
  if (lineEvents === null || lineEvents.length > 0) types.push('task_logged')
  return { types, lineLevels: levels, lineEvents }
}

const isEventType = (name: string) => (eventTypes as string[]).includes(name)
const isNameOfLine = (name: string) => LineEvent.safeParse(name).success && !isNameOfBaton(name)
const among = (names: readonly string[] | null) => (type: EventType) => names === null || names.includes(type)

/** Null: all levels. */
function levelsIn({ level, minLevel }: Wanted): LogLevel[] | null {
  if (level === undefined && minLevel === undefined) return null
  const names = level?.split(',') ?? [...LOG_LEVELS]
  const unknown = names.find((name) => !(LOG_LEVELS as readonly string[]).includes(name))
  if (unknown !== undefined)
    throw Refused.field(
      'VALIDATION_FAILED',
      'level',
      `has an unknown level: "${unknown}" (use ${LOG_LEVELS.join(', ')})`,
    )
  return LOG_LEVELS.slice(LOG_LEVELS.indexOf(minLevel ?? 'DEBUG')).filter((name) => names.includes(name))
}

/** Null: all events. */
function namesIn({ event }: Wanted, isKnown: (name: string) => boolean): string[] | null {
  if (event === undefined) return null
  const names = event.split(',')
  const unknown = names.find((name) => !isKnown(name))
  if (unknown !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'event', `has an unknown event: "${unknown}"`)
  return names
}

async function entryViews(kernel: ServerKernel, { workspaceId }: Caller, events: readonly EventWithTask[]) {
  const actors = events.map(({ actor }) => actor)
  const nameOf = await kernel.actorNames.of(workspaceId, actors)
  return events.map((event) => entryView(event, nameOf(event.actor)))
}

function entryView(event: EventWithTask, actorName: string | null): Entry {
  const { seq, type, payload, from, to, generation, actor, at } = event
  const isLine = type === 'task_logged'
  return {
    seq,
    level: levelOf(event),
    event: isLine ? String(payload.event) : type,
    message: messageOf(event),
    // For a holder's line, only its details; the other fields of the payload are shown above.
    details: isLine ? (payload.details ?? null) : payload,
    previousState: from,
    newState: to,
    agent: textIn(payload.agent) ?? /^agent:(.*)$/.exec(actor)?.[1] ?? null,
    session: textIn(payload.session),
    generation,
    actor,
    actorName,
    createdAt: instant(at),
  }
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : null)

const MOST_DETAILS_BYTES = 16 * 1024

const seqOf = ({ seq }: Entry) => seq

export const logActs = actsOf(api)({
  readTaskLog: async ({ kernel }, { params, query, caller, page }) => {
    const { order = 'desc' } = query
    const filter = filterOf(query)
    const { record } = await readTask(kernel, caller, params.id)
    const part = { order, after: page.after ?? null, limit: page.rows }
    const events = await logOfTask(kernel.store.readers, caller.workspaceId, record.id, filter, part)
    return page.of(await entryViews(kernel, caller, events), (entry) => entry, seqOf)
  },
  /** Adds the holder's own lines: all of them, or none when the claim is no longer current. */
  addToTaskLog: async ({ kernel }, { params, body: { entries, ...fence }, caller }) => {
    entries.forEach(({ event, details }, i) => {
      if (isNameOfBaton(event))
        throw Refused.field(
          'VALIDATION_FAILED',
          `entries[${i}].event`,
          'has a prefix reserved for Baton’s own events; choose another name',
        )
      if (details !== undefined && Buffer.byteLength(JSON.stringify(details)) > MOST_DETAILS_BYTES)
        throw Refused.field(
          'VALIDATION_FAILED',
          `entries[${i}].details`,
          `must be at most ${MOST_DETAILS_BYTES} bytes of JSON`,
        )
    })
    const reply = await command(kernel, caller, params.id, { kind: 'log', fence, entries })
    return { reason: reply.reason as 'NOTED', task: briefView(reply.record) }
  },
  /** Events that belong to no task, and the events of tasks whose holders were lost. */
  readCoordinatorLog: async ({ kernel }, { query, caller, page }) => {
    const { order = 'desc' } = query
    // The workspace log has no holder, so it has no lines written by holders.
    const types = typesAt(levelsIn(query) ?? LOG_LEVELS).filter(among(namesIn(query, isEventType)))
    const part = { order, after: page.after ?? null, limit: page.rows }
    const events = await logOfWorkspace(kernel.store.readers, caller.workspaceId, types, part)
    const entries = await entryViews(kernel, caller, events)
    const withTasks = entries.map((entry, i) => ({ ...entry, taskId: events[i]!.taskUuid }))
    return page.of(withTasks, (entry) => entry, seqOf)
  },
})
