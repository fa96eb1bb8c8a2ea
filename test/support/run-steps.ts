import type { RunEnd } from '../../src/core/runs/records.ts'
import { requestWakeups, type WakeupRequest } from '../../src/core/runs/request-wakeups.ts'
import * as life from '../../src/core/runs/run-life.ts'
import * as runtime from '../../src/core/runs/runtime-state.ts'
import { type RunIdentity, takeWakeup as taking } from '../../src/core/runs/take-wakeup.ts'
import { runStep } from '../../src/flow/run-steps.ts'
import type { RunsTransactor } from '../../src/store/store.ts'

/** Every step of wakeups and runs, one transaction each. */

export const askForWakeups = (
  store: RunsTransactor,
  workspaceId: number,
  requests: readonly WakeupRequest[],
) => runStep(store, workspaceId, requestWakeups(requests))

export const takeWakeup = (
  store: RunsTransactor,
  { workspaceId, agent }: { workspaceId: number; agent: string },
  run: RunIdentity,
) => runStep(store, workspaceId, taking(agent, run))

export const finishRun = (store: RunsTransactor, end: RunEnd) =>
  runStep(store, end.workspaceId, life.finishRun(end))

export const parkCredential = (
  store: RunsTransactor,
  workspaceId: number,
  about: Parameters<typeof runtime.parkCredential>[0],
) => runStep(store, workspaceId, runtime.parkCredential(about))

export const resetSessions = (
  store: RunsTransactor,
  workspaceId: number,
  ...about: Parameters<typeof runtime.resetSessions>
) => runStep(store, workspaceId, runtime.resetSessions(...about))

export const scheduleTimers = (store: RunsTransactor, workspaceId: number, slugs: readonly string[]) =>
  runStep(store, workspaceId, runtime.scheduleTimers(slugs))
