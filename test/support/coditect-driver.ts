import { expect } from 'vitest'
import type { StoredEvent } from '../../src/kinds/events.ts'
import type { Hold, Holder } from './tasks.ts'

/** The answer to a request: `reason` when it was granted, `code` when it was refused. */
export interface Answer {
  ok: boolean
  reason?: string
  code?: string
  [field: string]: unknown
}

/** A task as an agent knows it: by its external id. */
export interface TaskRef {
  uuid: string
}

/** The coordinator as the scenarios drive it, through any entry point. Refusals are answers; nothing is thrown. */
export interface CoditectDriver {
  /** A scenario begins in a workspace of its own, at T=0. */
  begin(): Promise<void>
  /** T is now this many seconds. Where time cannot be moved, this only documents it. */
  at(seconds: number): Promise<void>

  newTask(key: string, after?: readonly TaskRef[]): Promise<TaskRef>
  /** `leaseSeconds` is the document's; a driver that cannot move time uses a long lease and ends it on request. */
  claim(task: TaskRef, by: Holder, how?: { leaseSeconds?: number; idempotencyKey?: string }): Promise<Answer>
  start(task: TaskRef, by: Hold): Promise<Answer>
  renew(task: TaskRef, by: Hold): Promise<Answer>
  release(task: TaskRef, by: Hold): Promise<Answer>
  submit(task: TaskRef, by: Hold, result: unknown): Promise<Answer>
  /** An operator reopens a finished task. */
  reset(task: TaskRef): Promise<Answer>

  /** The present holder's lease ends, and the coordinator has noticed. */
  letLeaseExpire(task: TaskRef): Promise<void>
  /** The task's dependencies have changed: when this resolves, the coordinator has processed it. */
  dependenciesMoved(task: TaskRef): Promise<void>

  state(task: TaskRef): Promise<{ state: string; generation: number }>
  /** Oldest first. */
  claims(task: TaskRef): Promise<ClaimHistory[]>
  results(task: TaskRef): Promise<KeptResult[]>
  log(task: TaskRef): Promise<StoredEvent[]>

  /** The coordinator dies; another one starts on what is stored. */
  restart(): Promise<void>
  /** The connection to the database is cut while `act` runs. Answers meanwhile have the code UNAVAILABLE. */
  whileDatabaseIsUnreachable(act: () => Promise<void>): Promise<void>
}

export interface ClaimHistory extends Hold {
  state: string
  endReason: string | null
}
export interface KeptResult {
  generation: number
  session: string
  accepted: boolean | null
  rejection: string | null
  data: unknown
}

export type Scenario = (coordinator: CoditectDriver) => Promise<void>

export const agentA: Holder = { agent: 'agent-a', session: 'session-1' }
export const agentB: Holder = { agent: 'agent-b', session: 'session-2' }
export const agentC: Holder = { agent: 'agent-c', session: 'session-3' }
export const TASK_101 = 'A-101-build-api-endpoints'

export const granted = (generation: number, by: Holder) => ({
  ok: true,
  reason: 'GRANTED',
  claim: { generation, ...by, state: 'active' },
})
export const refused = (code: string, more: object = {}) => ({ ok: false, code, ...more })
export const ACCEPTED = { ok: true, reason: 'ACCEPTED' }
export const STALE = (currentGeneration: number) =>
  refused('STALE_GENERATION', { currentGeneration, workLost: true })

export const expired = (generation: number, by: Holder) =>
  ({ generation, ...by, state: 'expired', endReason: 'EXPIRED' }) as const
export const completed = (generation: number, by: Holder) =>
  ({ generation, ...by, state: 'released', endReason: 'COMPLETED' }) as const
export const accepted = (generation: number, data: unknown) => ({
  generation,
  data,
  accepted: true,
  rejection: null,
})
export const rejected = (generation: number, data: unknown, rejection = 'STALE_GENERATION') => ({
  generation,
  data,
  accepted: false,
  rejection,
})
export const byGeneration = <T extends { generation: number }>(rows: T[]) =>
  rows.toSorted((a, b) => a.generation - b.generation)

/** Agent-A had it and lost it; Agent-B holds it now. */
export async function takenOver(coordinator: CoditectDriver): Promise<TaskRef> {
  const task = await coordinator.newTask(TASK_101)
  expect(await coordinator.claim(task, agentA, { leaseSeconds: 15 })).toMatchObject(granted(1, agentA))
  await coordinator.at(15)
  await coordinator.letLeaseExpire(task)
  expect(await coordinator.claim(task, agentB)).toMatchObject(granted(2, agentB))
  return task
}
