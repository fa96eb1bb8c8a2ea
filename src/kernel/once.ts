import type { StepGranted } from '../kinds/replies.ts'
import { NOTHING_ASKED, NOTHING_CHANGED, type RunsStep, unchanged } from '../kinds/run/rules/step.ts'
import { firstAnswer } from './batch/first-answer.ts'
import type { Idempotency, StoredReply } from './batch/requests.ts'
import { storedReply } from './batch/stored-replies.ts'
import { type Caller, granted, type Kernel } from './kernel.ts'
import type { RunStore } from './store/run-store.ts'

/** Idempotency keys of requests that are not decided in a batch. Without a key they cost nothing. */

/** A step whose answer is stored with its changes: a repeat gets that answer and changes nothing. */
export function stepOnce<T>(kernel: Kernel<RunStore>, caller: Caller, step: RunsStep<T>): Promise<T> {
  const { idempotency } = caller
  return kernel.step(caller, idempotency ? keyed(idempotency, step) : step)
}

/**
 * What is more than one transaction: its answer is stored once it is done, and a repeat gets that. A repeat that comes earlier, or after
 * a crash on the way, acts again, so every part of it must allow that.
 */
export async function once<T>(
  kernel: Kernel<RunStore>,
  caller: Caller,
  act: (alone: Caller) => Promise<T>,
): Promise<T> {
  const { idempotency, ...alone } = caller
  if (!idempotency) return act(caller)
  const first = await kernel.step(alone, storedAnswer<T>(idempotency))
  if (first) return first.answer
  const answer = await act(alone)
  const done: RunsStep<T> = {
    on: 'runs',
    reads: NOTHING_ASKED,
    decide: () => ({ answer, changes: { ...NOTHING_CHANGED } }),
  }
  return kernel.step(alone, keyed(idempotency, done))
}

const readsWith = ({ key }: Idempotency, reads: RunsStep<unknown>['reads']) => ({ ...reads, replies: [key] })

function answerIn<T>(
  idempotency: Idempotency,
  stored: StoredReply | undefined,
  now: number,
): { answer: T } | null {
  const reply = firstAnswer(idempotency, stored, now)
  return reply && (granted(reply) as StepGranted as { answer: T })
}

/** The answer that is stored under a key, if there is one. */
const storedAnswer = <T>(idempotency: Idempotency): RunsStep<{ answer: T } | null> => ({
  on: 'runs',
  reads: readsWith(idempotency, NOTHING_ASKED),
  decide: ({ now, replies }) => unchanged(answerIn<T>(idempotency, replies.get(idempotency.key), now)),
})

/** What changed nothing is not stored: it may be done later under the same key. */
const keyed = <T>(idempotency: Idempotency, step: RunsStep<T>): RunsStep<T> => ({
  on: 'runs',
  reads: readsWith(idempotency, step.reads),
  decide(view) {
    const { key, bodyHash } = idempotency
    const first = answerIn<T>(idempotency, view.replies.get(key), view.now)
    if (first) return unchanged(first.answer)
    const { answer, changes } = step.decide(view)
    if (changes === NOTHING_CHANGED) return { answer, changes }
    const reply = storedReply({ ok: true, reason: 'DONE', answer })
    return { answer, changes: { ...changes, newReplies: [{ key, bodyHash, reply }] } }
  },
})
