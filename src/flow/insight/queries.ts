import { messageOf } from '../../core/log.ts'
import type { DurationGroup } from '../../core/outcomes.ts'
import { countVerdicts } from '../../core/overruled.ts'
import type { AnswerOf } from '../../core/shapes/common.ts'
import type { Bottlenecks, Durations, Failures, Retries, Telemetry } from '../../core/shapes/insight.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { ServerKernel } from '../../kernel/server-kernel.ts'
import type { Asked, Bottleneck, FinishedTask } from '../../store/server-store.ts'
import { instant } from '../views.ts'

/** Failures, durations, retries and bottlenecks of a workspace within a period (Automatos 6.6), and figures on them (6.11). */

const period = ({ began, ended, seq }: { began: number; ended: number; seq: number }) => ({
  from: instant(began),
  to: instant(ended),
  seq,
})

export async function failures(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  { before, limit }: { before: number | null; limit: number },
  cursorOf: (seq: number) => string,
): Promise<AnswerOf<typeof Failures>> {
  const read = await kernel.store.insight.failures(workspaceId, asked, before, limit)
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
    message: messageOf({ type: row.type, payload } as Parameters<typeof messageOf>[0]),
  }))
  return { items, nextCursor: read.next === null ? null : cursorOf(read.next), ...period(read) }
}

export async function durations(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  { by, after, limit }: { by: DurationGroup; after: string | null; limit: number },
  cursorOf: (name: string) => string,
): Promise<AnswerOf<typeof Durations>> {
  const read = await kernel.store.insight.durations(workspaceId, asked, { by, after, limit: limit + 1 })
  const shown = read.rows.slice(0, limit)
  const items = shown.map(
    ({ name, tasks, completed, failed, retried, completedAfterRetry, waitMs, workMs }) => ({
      ...{ name, tasks, completed, failed, retried, completedAfterRetry, waitMs, workMs },
    }),
  )
  const nextCursor = read.rows.length > limit ? cursorOf(shown.at(-1)!.name) : null
  return { items, nextCursor, ...period(read), isBounded: read.isBounded }
}

interface TaskPage {
  after: readonly [number, number] | null
  limit: number
}

type PlaceCursor = (weight: number, number: number) => string

function pageOf<T extends FinishedTask>(rows: readonly T[], limit: number, cursorOf: PlaceCursor) {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return { shown, nextCursor: rows.length > limit ? cursorOf(last!.weight, last!.number) : null }
}

const taskOf = ({ taskId, key, title, taskType, agent, missionId, state, attempts }: FinishedTask) => ({
  ...{ taskId, key, title, taskType, agent, missionId, state, attempts },
})

export async function retries(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  { after, limit }: TaskPage,
  cursorOf: PlaceCursor,
): Promise<AnswerOf<typeof Retries>> {
  const read = await kernel.store.insight.retries(workspaceId, asked, { after, limit: limit + 1 })
  const { shown, nextCursor } = pageOf(read.rows, limit, cursorOf)
  const { tasks, retried, completedAfterRetry, isBounded } = read
  const counts = { tasks, retried, completedAfterRetry, isBounded }
  return { items: shown.map(taskOf), nextCursor, ...period(read), ...counts }
}

export async function bottlenecks(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Asked,
  { after, limit }: TaskPage,
  cursorOf: PlaceCursor,
): Promise<AnswerOf<typeof Bottlenecks>> {
  const read = await kernel.store.insight.bottlenecks(workspaceId, asked, { after, limit: limit + 1 })
  const { shown, nextCursor } = pageOf(read.rows, limit, cursorOf)
  const items = shown.map((task: Bottleneck) => ({
    ...taskOf(task),
    delayMs: task.weight,
    blocks: task.blocks,
  }))
  return { items, nextCursor, ...period(read), isBounded: read.isBounded }
}

const rateOf = (completed: number, tasks: number) => Math.round((completed / tasks) * 10_000) / 10_000

export async function telemetry(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: Pick<Asked, 'from' | 'to'>,
): Promise<AnswerOf<typeof Telemetry>> {
  const read = await kernel.store.insight.telemetry(workspaceId, asked)
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
