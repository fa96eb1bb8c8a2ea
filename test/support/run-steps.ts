import { freshUuid } from '../../src/kernel/fresh-uuid.ts'
import type { RunStore } from '../../src/kernel/store/run-store.ts'
import type { RunEnd } from '../../src/kinds/run/record.ts'
import { requestWakeups, type WakeupRequest } from '../../src/kinds/run/rules/request-wakeups.ts'
import * as life from '../../src/kinds/run/rules/run-life.ts'
import * as runtime from '../../src/kinds/run/rules/runtime-state.ts'
import { type RunIdentity, takeWakeup as taking } from '../../src/kinds/run/rules/take-wakeup.ts'
import type { WakeupCause } from '../../src/kinds/run/rules/wakeups.ts'
import type { Task } from './tasks.ts'

/** Every step of wakeups and runs, one transaction each. */

export type WakeupFields = Partial<Omit<WakeupCause, 'task'>> & {
  task?: Task | null
  generation?: number | null
}

/** A request to wake an agent. */
export const wakeupRequest = ({
  task = null,
  generation = null,
  ...more
}: WakeupFields = {}): WakeupCause => ({
  id: freshUuid(),
  source: 'on_demand',
  triggerDetail: null,
  reason: null,
  payload: undefined,
  actor: 'key:test',
  task: task && { id: task.id, uuid: task.uuid, generation },
  idempotencyKey: null,
  depth: 0,
  isContinuation: false,
  delayMs: 0,
  ...more,
})

/** The end of a run, but for its ids. */
export const ENDED: Omit<RunEnd, 'workspaceId' | 'runId' | 'agent'> = {
  ...{
    adapterType: 'scripted',
    status: 'succeeded',
    errorCode: null,
    errorMessage: null,
    exitCode: 0,
    signal: null,
  },
  ...{
    usage: null,
    usageBasis: null,
    costUsd: null,
    costBasis: null,
    models: null,
    provider: null,
    model: null,
    sessionId: null,
    taskSession: null,
    agentState: null,
  },
  ...{ summary: null, result: undefined, folder: null, log: null, excerpts: { stdout: null, stderr: null } },
}

export const askForWakeups = (store: RunStore, workspaceId: number, requests: readonly WakeupRequest[]) =>
  store.transact(workspaceId, requestWakeups(requests))

export const takeWakeup = (
  store: RunStore,
  { workspaceId, agent }: { workspaceId: number; agent: string },
  run: RunIdentity,
) => store.transact(workspaceId, taking(agent, run))

export const finishRun = (store: RunStore, end: RunEnd) =>
  store.transact(end.workspaceId, life.finishRun(end))

export const parkCredential = (
  store: RunStore,
  workspaceId: number,
  about: Parameters<typeof runtime.parkCredential>[0],
) => store.transact(workspaceId, runtime.parkCredential(about))

export const resetSessions = (
  store: RunStore,
  workspaceId: number,
  ...about: Parameters<typeof runtime.resetSessions>
) => store.transact(workspaceId, runtime.resetSessions(...about))

export const scheduleTimers = (store: RunStore, workspaceId: number, slugs: readonly string[]) =>
  store.transact(workspaceId, runtime.scheduleTimers(slugs))
