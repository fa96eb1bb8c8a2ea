import { type FieldType, TASK_FIELDS } from '../../src/kernel/store/record-fields.ts'
import type { StoredClaim } from '../../src/kernel/store/store.ts'
import { GROUP_FIELDS, groupsOf, watchOf } from '../../src/kernel/store/watch-column.ts'
import type { StoredEvent } from '../../src/kinds/events.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'
import type { CountedDependency, DependencyKind } from '../../src/kinds/task/rules/upstream-counts.ts'
import type { ClaimEnd, TriggerRule } from '../../src/pure/states.ts'

/**
 * The stored format: JSON is written and parsed only here. No script parses a record or a number in one, since numbers that
 * pass through Lua come back as 1e+15.
 */

/** What the store itself notes of a task, behind the fields of its record. */
export interface TaskMarks {
  /** When and why its last claim ended; the rest of that claim is in the record. Null: there is none, or it is active. */
  readonly claimEnd: readonly [at: number, reason: ClaimEnd] | null
  /** Until when its claims are kept. Null: it has not ended. */
  readonly claimsKeptUntil: number | null
  /** How many results it has: most have none when one is submitted, and nothing needs to be read. */
  readonly results: number
  /** Its details were changed after its creation, or it has dependencies: both are stored under keys of their own. */
  readonly hasMore: boolean
}

export interface MarkedTask {
  readonly record: TaskRecord
  readonly marks: TaskMarks
}

export const NO_MARKS: TaskMarks = {
  claimEnd: null,
  claimsKeptUntil: null,
  results: 0,
  hasMore: false,
}

/** As JSON. Our own words need no escaping. NaN and infinity would not be valid JSON, so they are refused. */
const VALUE_AS_JSON: Record<FieldType, (value: string) => string> = {
  bigint: (value) => `number(${value})`,
  int: (value) => `number(${value})`,
  smallint: (value) => `number(${value})`,
  instant: (value) => `number(${value})`,
  enum: (value) => `(${value} === null ? 'null' : '"' + ${value} + '"')`,
  uuid: (value) => `(${value} === null ? 'null' : '"' + ${value} + '"')`,
  boolean: (value) => `(${value} ? 'true' : 'false')`,
  text: (value) => `(${value} === null ? 'null' : JSON.stringify(${value}))`,
  texts: (value) => `(${value}.length === 0 ? '[]' : JSON.stringify(${value}))`,
  json: (value) => `(${value} === null ? 'null' : JSON.stringify(${value}))`,
  groups: () => 'JSON.stringify(watchOf(record))',
}

function number(value: number | null): string {
  if (value !== null && !Number.isFinite(value)) throw new RangeError(`${value} cannot be stored.`)
  return String(value)
}

// Generated, so that no task costs a loop over all fields. Without their names, which would be most of the text.
const fieldsAsJson = new Function(
  'number',
  'watchOf',
  `return (record) => '[' + ${TASK_FIELDS.map(({ field, type }) => VALUE_AS_JSON[type](`record.${field}`)).join(" + ',' + ")}`,
)(number, watchOf) as (record: TaskRecord) => string

const recordFrom = new Function(
  'groupsOf',
  `return (values) => {
     const groups = groupsOf(values[${TASK_FIELDS.findIndex(({ type }) => type === 'groups')}])
     return { ${TASK_FIELDS.flatMap(({ field, type }, i) =>
       type === 'groups' ? GROUP_FIELDS.map((name) => `${name}: groups.${name}`) : [`${field}: values[${i}]`],
     ).join(', ')} }
   }`,
)(groupsOf) as (values: readonly unknown[]) => TaskRecord

export function writeTask({ record, marks }: MarkedTask): string {
  const { claimEnd, claimsKeptUntil, results, hasMore } = marks
  const end = claimEnd === null ? 'null' : JSON.stringify(claimEnd)
  return `${fieldsAsJson(record)},${end},${claimsKeptUntil},${results},${hasMore}]`
}

export const readTask = (text: string): TaskRecord => recordFrom(JSON.parse(text))

export function readMarkedTask(text: string): MarkedTask {
  const values = JSON.parse(text)
  const from = TASK_FIELDS.length
  return {
    record: recordFrom(values),
    marks: {
      claimEnd: values[from],
      claimsKeptUntil: values[from + 1],
      results: values[from + 2],
      hasMore: values[from + 3],
    },
  }
}

/** Its seq is its position in the log. */
export const writeEvent = ({
  type,
  taskId,
  generation,
  from,
  to,
  actor,
  payload,
  at,
  version,
}: Omit<StoredEvent, 'seq'>) =>
  JSON.stringify(
    version == null
      ? [type, taskId, generation, from, to, actor, payload, at]
      : [type, taskId, generation, from, to, actor, payload, at, version],
  )

export function readEvent(text: string, seq: number): StoredEvent {
  const [type, taskId, generation, from, to, actor, payload, at, version] = JSON.parse(text)
  return { seq, type, taskId, generation, ...(version && { version }), from, to, actor, payload, at }
}

/** The last claim of a task: most of it is in the record. */
export function lastClaimOf({ record, marks }: MarkedTask): StoredClaim | null {
  const { generation, session, agent, claimState, acquiredAt } = record
  if (generation === 0) return null
  const [endedAt, endReason] = marks.claimEnd ?? [null, null]
  return {
    ...{ generation, session: session!, agent: agent!, state: claimState!, acquiredAt: acquiredAt! },
    ...{ endedAt, endReason },
  }
}

export const writeClaim = (claim: StoredClaim) => {
  const { generation, session, agent, state, acquiredAt, endedAt, endReason } = claim
  return JSON.stringify([generation, session, agent, state, acquiredAt, endedAt, endReason])
}

export function readClaim(text: string): StoredClaim {
  const [generation, session, agent, state, acquiredAt, endedAt, endReason] = JSON.parse(text)
  return { generation, session, agent, state, acquiredAt, endedAt, endReason }
}

/** A number for a score. An invalid one would fail halfway through a script, which cannot be rolled back. */
export function score(value: number): string {
  if (!Number.isFinite(value)) throw new RangeError(`${value} is not a valid time or rank.`)
  return String(value)
}

export const needsIn = (list: readonly string[]) =>
  list.map((text) => JSON.parse(text) as [id: number, uuid: string, rule: TriggerRule, kind: DependencyKind])

export const writeCounted = ({ countedVersion, outcome, rule }: CountedDependency) =>
  JSON.stringify([countedVersion, outcome, rule])

export function readCounted(text: string): CountedDependency {
  const [countedVersion, outcome, rule] = JSON.parse(text)
  return { countedVersion, outcome, rule }
}
