import type { z } from 'zod'
import { periodIn, wantedId } from '../../door/asked.ts'
import { actsOf } from '../../door/door.ts'
import type { Page } from '../../door/paging.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { messageOf } from '../../kinds/log.ts'
import { parseTaskName } from '../../kinds/task/rules/names.ts'
import type { DurationGroup } from '../../kinds/task/rules/outcomes.ts'
import { idCarriedBy, uuidsFrom } from '../../pure/ids.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import type { AskedQuery } from './api.ts'
import * as api from './api.ts'
import { countVerdicts } from './overruled.ts'
import { causesIn, failuresIn } from './postgres/failures.ts'
import {
  type Bottleneck,
  bottlenecksIn,
  durationsIn,
  type FinishedTask,
  retriesIn,
  type SlowTask,
  slowestIn,
} from './postgres/finished.ts'
import { type Found, searchWorkspace } from './postgres/search.ts'
import { telemetryOf } from './postgres/telemetry.ts'
import type { Asked } from './postgres/window.ts'
import type {
  Bottlenecks,
  Causes,
  Durations,
  Failures,
  Insight,
  Retries,
  SearchAnswer,
  Slowest,
  Telemetry,
} from './shapes.ts'

/** Fewer letters are the beginning of every id. */
const SHORTEST_ID = 4

const KINDS = ['task', 'mission', 'agent', 'run'] as const

/** What is found is at most `limit`: no kind crowds out the others. */
export async function search(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: string,
  limit: number,
): Promise<AnswerOf<typeof SearchAnswer>> {
  const text = asked.trim()
  if (text === '') return { items: [], isBounded: false, seq: await kernel.store.lastSeq(workspaceId) }
  const range = text.length < SHORTEST_ID ? null : uuidsFrom(text)
  const id = idCarriedBy(text.toLowerCase())
  const name = parseTaskName(text)
  const number = name?.kind === 'number' ? name.number : null
  const asking = { text, id, number, range, limit }
  const { found, isBounded, seq } = await searchWorkspace(kernel.store.readers, workspaceId, asking)
  return { items: inTurn(withoutDoubles(found)).slice(0, limit).map(foundView), isBounded, seq }
}

function withoutDoubles(found: readonly Found[]): Found[] {
  const first = new Map<string, Found>()
  for (const one of found) {
    const name = `${one.kind} ${one.id}`
    if (one.isExact || !first.has(name)) first.set(name, one)
  }
  return [...first.values()]
}

/** What has exactly this name first; then one of each kind in turn. */
function inTurn(found: readonly Found[]): Found[] {
  const kinds = KINDS.map((kind) => found.filter((one) => one.kind === kind && !one.isExact))
  const rounds = Math.max(...kinds.map(({ length }) => length))
  const rest = Array.from({ length: rounds }, (_, round) => kinds.flatMap((ones) => ones[round] ?? []))
  return [...found.filter(({ isExact }) => isExact), ...rest.flat()]
}

const foundView = ({ kind, id, key, title, state, updatedAt, error, number, mission }: Found) => ({
  kind,
  id,
  key,
  title,
  state,
  updatedAt: instant(updatedAt),
  path: `/${kind}s/${id}`,
  error,
  number,
  mission,
})

/** Failures, durations, retries and bottlenecks of a workspace within a period (Automatos 6.6), and figures on them (6.11). */

const period = ({ began, ended, seq }: { began: number; ended: number; seq: number }) => ({
  from: instant(began),
  to: instant(ended),
  seq,
})

export async function failures(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked & { cause?: string | undefined },
  page: Page<number>,
): Promise<AnswerOf<typeof Failures>> {
  const read = await failuresIn(kernel.store.readers, workspaceId, asked, page.after ?? null, page.limit)
  const items = read.rows.map(({ number, at, payload, ...row }) => ({
    seq: number,
    at: instant(at),
    type: row.type,
    taskId: row.taskId,
    key: row.key,
    title: row.title,
    taskType: row.taskType,
    agent: row.agent,
    missionId: row.missionId,
    generation: row.generation,
    failureClass: (payload as { failureClass?: string }).failureClass ?? null,
    cause: row.cause,
    message: messageOf({ type: row.type, payload } as Parameters<typeof messageOf>[0]),
  }))
  return { items, nextCursor: page.next(read.next), ...period(read) }
}

export async function causes(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Pick<Asked, 'from' | 'to'>,
): Promise<AnswerOf<typeof Causes>> {
  const read = await causesIn(kernel.store.readers, workspaceId, asked)
  const items = read.rows.map(({ cause, failures, tasks, completed, lastAt }) => ({
    ...{ cause, failures, tasks, completed },
    lastAt: instant(lastAt),
  }))
  return { items, nextCursor: null, ...period(read), isBounded: read.isBounded }
}

export async function durations(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  by: DurationGroup,
  page: Page<[string]>,
): Promise<AnswerOf<typeof Durations>> {
  const [after] = page.after ?? [null]
  const read = await durationsIn(kernel.store.readers, workspaceId, asked, { by, after, limit: page.rows })
  const list = page.of(
    read.rows,
    ({ name, tasks, completed, failed, retried, completedAfterRetry, waitMs, workMs }) => ({
      ...{ name, tasks, completed, failed, retried, completedAfterRetry, waitMs, workMs },
    }),
    ({ name }) => [name],
  )
  return { ...list, ...period(read), isBounded: read.isBounded }
}

type TaskPage = Page<[number, number]>

const placeOf = ({ weight, number }: FinishedTask): [number, number] => [weight, number]

const taskOf = ({ taskId, key, title, taskType, agent, missionId, state, attempts }: FinishedTask) => ({
  ...{ taskId, key, title, taskType, agent, missionId, state, attempts },
})

export async function retries(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  page: TaskPage,
): Promise<AnswerOf<typeof Retries>> {
  const wanted = { after: page.after ?? null, limit: page.rows }
  const read = await retriesIn(kernel.store.readers, workspaceId, asked, wanted)
  const { tasks, retried, completedAfterRetry, isBounded } = read
  const counts = { tasks, retried, completedAfterRetry, isBounded }
  return { ...page.of(read.rows, taskOf, placeOf), ...period(read), ...counts }
}

export async function bottlenecks(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  page: TaskPage,
): Promise<AnswerOf<typeof Bottlenecks>> {
  const wanted = { after: page.after ?? null, limit: page.rows }
  const read = await bottlenecksIn(kernel.store.readers, workspaceId, asked, wanted)
  const view = (task: Bottleneck) => ({ ...taskOf(task), delayMs: task.weight, blocks: task.blocks })
  return { ...page.of(read.rows, view, placeOf), ...period(read), isBounded: read.isBounded }
}

export async function slowest(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  page: TaskPage,
): Promise<AnswerOf<typeof Slowest>> {
  const wanted = { after: page.after ?? null, limit: page.rows }
  const read = await slowestIn(kernel.store.readers, workspaceId, asked, wanted)
  const view = (task: SlowTask) => ({ ...taskOf(task), workMs: task.weight, waitMs: task.waitMs })
  return { ...page.of(read.rows, view, placeOf), ...period(read), isBounded: read.isBounded }
}

const rateOf = (completed: number, tasks: number) => Math.round((completed / tasks) * 10_000) / 10_000

export async function telemetry(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Pick<Asked, 'from' | 'to'>,
): Promise<AnswerOf<typeof Telemetry>> {
  const read = await telemetryOf(kernel.store.readers, workspaceId, asked)
  const { agents, models, retries, crashes, failedVerifications, judged, decided, estimates, isBounded } =
    read
  const withRate = <T extends { completed: number; tasks: number }>(one: T) => ({
    ...one,
    successRate: rateOf(one.completed, one.tasks),
  })
  return {
    ...period(read),
    agents: agents.map(withRate),
    models,
    retries: retries.map(withRate),
    crashes: crashes.map(withRate),
    failedVerifications: failedVerifications.map(withRate),
    verdicts: countVerdicts(judged, decided),
    estimates,
    isBounded,
  }
}

/** What a page shows at once, in one answer: browsers ask for few things at a time. */
async function insight(
  kernel: ServerKernel,
  caller: Caller,
  asked: Asked,
  page: TaskPage,
): Promise<AnswerOf<typeof Insight>> {
  const [why, slow, delays] = await Promise.all([
    causes(kernel, caller, asked),
    slowest(kernel, caller, asked, page),
    bottlenecks(kernel, caller, asked, page),
  ])
  const seq = Math.min(why.seq, slow.seq, delays.seq)
  return { causes: why, slowest: slow, bottlenecks: delays, seq }
}

const askedIn = (query: z.output<typeof AskedQuery>): Asked => ({
  ...periodIn(query),
  agent: query.agent,
  taskType: query.taskType,
  missionId: wantedId(query.mission),
})

export const insightActs = actsOf(api)({
  search: ({ kernel }, { query: { q = '' }, caller, page }) => search(kernel, caller, q, page.limit),
  listFailures: ({ kernel }, { query, caller, page }) =>
    failures(kernel, caller, { ...askedIn(query), cause: query.cause }, page),
  listCauses: ({ kernel }, { query, caller }) => causes(kernel, caller, periodIn(query)),
  listSlowest: ({ kernel }, { query, caller, page }) => slowest(kernel, caller, askedIn(query), page),
  listDurations: ({ kernel }, { query, caller, page }) =>
    durations(kernel, caller, askedIn(query), query.by, page),
  listRetries: ({ kernel }, { query, caller, page }) => retries(kernel, caller, askedIn(query), page),
  listBottlenecks: ({ kernel }, { query, caller, page }) => bottlenecks(kernel, caller, askedIn(query), page),
  readInsight: ({ kernel }, { query, caller, page }) => insight(kernel, caller, periodIn(query), page),
  readTelemetry: ({ kernel }, { query, caller }) => telemetry(kernel, caller, periodIn(query)),
})
