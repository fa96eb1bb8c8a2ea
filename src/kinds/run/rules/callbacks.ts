import type { Awaiting, RunRecord } from '../record.ts'
import type { CallbackMessage } from '../shapes/callbacks.ts'
import { isOver, isStarted } from '../states.ts'
import { NOTHING_ASKED, NOTHING_CHANGED, type RunsChanges, type RunsStep, unchanged } from './step.ts'

/**
 * Agents that accept their work and answer later (202). Their messages are rows, taken by any node and read by the one that has
 * the run. Once the work is accepted, the run does not depend on a process of its node: another node can adopt it.
 */

/** `unknown_run`: none is expected. `over`: it has its answer. `busy`: too many are unread. */
export type Delivery = 'taken' | 'unknown_run' | 'over' | 'busy'

const MOST_UNREAD = 100

const NOTHING_TAKEN: Awaiting = { taken: 0, read: 0, isAnswered: false, state: null }

const onRun = <T>(
  runId: string,
  decide: (run: RunRecord, now: number) => { answer: T; changes: RunsChanges } | null,
  otherwise: T,
): RunsStep<T> => ({
  on: 'runs',
  reads: { ...NOTHING_ASKED, runs: [runId] },
  decide({ now, runs }) {
    const run = runs.get(runId)
    return (run && !isOver(run.status) ? decide(run, now) : null) ?? unchanged(otherwise)
  },
})

const changed = (run: RunRecord, set: Partial<RunRecord>): RunsChanges => ({
  ...NOTHING_CHANGED,
  runs: [{ id: run.id, set }],
})

/** Before the agent is asked: its answer may come before its 202. False: the run has ended. */
export const expectCallbacks = (runId: string): RunsStep<boolean> =>
  onRun(
    runId,
    (run) =>
      isStarted(run.status)
        ? { answer: true, changes: changed(run, { awaiting: run.awaiting ?? NOTHING_TAKEN }) }
        : null,
    false,
  )

/** Takes a message. Only one answer is taken; a flood of heartbeats is refused, but never the answer. */
export const takeCallback = (runId: string, message: CallbackMessage): RunsStep<Delivery> =>
  onRun<Delivery>(
    runId,
    (run) => {
      const { awaiting } = run
      if (!awaiting) return null
      if (awaiting.isAnswered) return unchanged('over')
      const isAnswer = message.kind !== 'heartbeat'
      if (!isAnswer && awaiting.taken - awaiting.read >= MOST_UNREAD) return unchanged('busy')
      const number = awaiting.taken + 1
      return {
        answer: 'taken',
        changes: {
          ...changed(run, { awaiting: { ...awaiting, taken: number, isAnswered: isAnswer } }),
          messages: [{ runId, number, message }],
        },
      }
    },
    'unknown_run',
  )

/** Its node has handled these messages. The answer stays until the end of the run is recorded. */
export const callbacksRead = (runId: string, upTo: number): RunsStep<boolean> =>
  onRun(
    runId,
    (run) => {
      const { awaiting } = run
      if (!awaiting || upTo <= awaiting.read) return null
      const read = Math.min(upTo, awaiting.isAnswered ? awaiting.taken - 1 : awaiting.taken)
      return {
        answer: true,
        changes: {
          ...changed(run, { awaiting: { ...awaiting, read } }),
          readMessages: [{ runId, upTo: read }],
        },
      }
    },
    false,
  )

/** The agent has the work and answers within this time. */
export const acceptWork = (
  runId: string,
  { state, withinMs }: { state: Record<string, unknown>; withinMs: number },
): RunsStep<boolean> =>
  onRun(
    runId,
    (run, now) => {
      if (!isStarted(run.status)) return null
      const awaiting = { ...(run.awaiting ?? NOTHING_TAKEN), state }
      return { answer: true, changes: changed(run, { awaiting, answerDueAt: now + withinMs }) }
    },
    false,
  )

/**
 * Whether another node may wait for the answer when its own is lost: the agent has accepted the work, or it has sent a message,
 * which shows the same.
 */
export const isAwaited = ({ awaiting, answerDueAt }: Pick<RunRecord, 'awaiting' | 'answerDueAt'>) =>
  answerDueAt !== null || (awaiting !== null && awaiting.taken > 0)

export interface Adoption {
  /** The node that was lost; another one may have adopted the run since. */
  from: string
  to: string
  /** Where it is logged from now on. */
  log: { store: string; logRef: string }
  /** For a run whose acceptance was not recorded. */
  withinMs: number
}

/** Another node continues a run whose node was lost. Null: it has ended, or has another node already. */
export const adoptRun = (
  runId: string,
  { from, to, log, withinMs }: Adoption,
): RunsStep<{ leftMs: number; awaiting: Awaiting } | null> =>
  onRun<{ leftMs: number; awaiting: Awaiting } | null>(
    runId,
    (run, now) => {
      const { awaiting } = run
      if (run.nodeId !== from || !isStarted(run.status) || !awaiting || !isAwaited(run)) return null
      const answerDueAt = run.answerDueAt ?? run.startedAt! + withinMs
      return {
        answer: { leftMs: Math.max(0, answerDueAt - now), awaiting },
        changes: changed(run, { nodeId: to, logStore: log.store, logRef: log.logRef, answerDueAt }),
      }
    },
    null,
  )

/** With the end of the run: no more messages are expected. */
export const endOfCallbacks = ({
  id,
  awaiting,
}: RunRecord): Pick<RunsChanges, 'readMessages'> & {
  set: Partial<RunRecord>
} =>
  awaiting === null
    ? { set: {}, readMessages: [] }
    : { set: { awaiting: null, answerDueAt: null }, readMessages: [{ runId: id, upTo: awaiting.taken }] }
