import { hash } from 'node:crypto'
import type { z } from 'zod'
import { actingAs } from '../../../door/named-agents.ts'
import type { NextWanted } from '../../../kernel/batch/requests.ts'
import { type Caller, granted, type Kernel } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { ResultGranted } from '../../replies.ts'
import type { StoppedBy } from '../../run/rules/ending.ts'
import type { SpentByRun } from '../../run/rules/spent.ts'
import type { Limits } from '../../workspace/limits.ts'
import type { Submission } from '../command.ts'
import type {
  FailAnswer,
  FailBody,
  NextAnswer,
  ResultBatchAnswer,
  ResultBatchBody,
  SubmitAnswer,
  SubmitBody,
  ThenNext,
} from '../shapes/claims.ts'
import { nextWanted, onTask, outcome, runMany } from './claims.ts'
import { deliverClaims } from './deliver-claims.ts'
import { briefView, command } from './tasks.ts'

type Submit = Omit<z.output<typeof SubmitBody>, 'next'>

/** What is submitted; the commit is known to Baton alone. */
export interface Work extends Pick<Submit, 'result' | 'summary'> {
  commit?: string | null | undefined
}

/** The result as stored. Synchronous where the limits are cached, as they are for all but the first request in a while. */
export function submissionOf(kernel: Kernel, caller: Caller, work: Work): Submission | Promise<Submission> {
  const limits = kernel.limits(caller.workspaceId)
  return limits instanceof Promise
    ? limits.then((known) => submissionWithin(known, work))
    : submissionWithin(limits, work)
}

/** With the hash that identifies a repeated submission. */
function submissionWithin({ maxResultBytes }: Limits, { result, summary, commit }: Work): Submission {
  const data = JSON.stringify(result ?? null)
  const bytes = Buffer.byteLength(data)
  if (bytes > maxResultBytes) {
    const message = `is ${bytes} bytes; the limit of this workspace is ${maxResultBytes}`
    throw Refused.field('RESULT_TOO_LARGE', 'result', message)
  }
  return { data, bytes, hash: hash('sha256', data).slice(0, 32), summary: summary ?? null, commit }
}

export async function submitResult(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: Submit,
  run: { spent?: SpentByRun | undefined; commit?: string | null | undefined } = {},
): Promise<AnswerOf<typeof SubmitAnswer>> {
  const { session, generation } = body
  const made = submissionOf(kernel, caller, { ...body, commit: run.commit })
  const submission = made instanceof Promise ? await made : made
  const reply = await command(kernel, caller, uuid, {
    kind: 'submit',
    fence: { session, generation },
    submission,
    spent: run.spent,
  })
  return acceptedView(reply)
}

export interface NextOfHolder extends Omit<z.output<typeof ThenNext>, 'project'> {
  projectId?: number | undefined
}

/**
 * Submits a result and claims the next task for the same session, in one transaction. A refused result claims nothing: the
 * refusal is thrown, and a claim that came with it would be overlooked. `next` is null when no task was claimed, for
 * whatever reason: a result is never refused because of the request that came with it.
 */
export async function submitAndNext(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: Submit,
  next: NextOfHolder,
  gone: AbortSignal,
): Promise<{
  submitted: AnswerOf<typeof SubmitAnswer>
  next: AnswerOf<typeof NextAnswer>['claims'][number] | null
}> {
  const { session, generation } = body
  // Unlike what keeps a session from claiming, this is a fault of the request.
  const agent = actingAs(kernel, caller, next.agent)
  if (agent instanceof Promise) await agent
  const made = submissionOf(kernel, caller, body)
  const submission = made instanceof Promise ? await made : made
  const item = onTask(uuid, { kind: 'submit', fence: { session, generation }, submission })
  const asked = wantedBy(kernel, caller, session, next)
  const wanted = asked instanceof Promise ? await asked : asked
  const reply = granted(
    await (wanted
      ? kernel.run(caller, { on: 'taskThenNext', item, next: wanted })
      : kernel.run(caller, { on: 'task', ...item })),
  )
  // By its shape, not by the request: the first answer under an idempotency key may be of the other one.
  const { done, next: handed } = 'done' in reply ? reply : { done: reply, next: null }
  const shown = handed?.ok ? deliverClaims(kernel, caller, handed.claims, gone) : []
  const claims = shown instanceof Promise ? await shown : shown
  return { submitted: acceptedView(done), next: claims[0] ?? null }
}

/** Null: the session may not claim, for instance because its lease is outside the limits. */
function wantedBy(
  kernel: Kernel,
  caller: Caller,
  session: string,
  next: NextOfHolder,
): NextWanted | null | Promise<NextWanted | null> {
  const { agent, leaseSeconds, capabilities, tracks, purposes, projectId } = next
  const claim = { agent, leaseSeconds, capabilities, tracks, purposes, session, limit: 1 }
  try {
    const asked = nextWanted(kernel, caller, claim, projectId)
    return asked instanceof Promise ? registeredBy(asked) : asked.wanted
  } catch (error) {
    return unlessRefused(error)
  }
}

async function registeredBy(asked: Promise<{ wanted: NextWanted; registered: unknown }>) {
  try {
    const { wanted, registered } = await asked
    await registered
    return wanted
  } catch (error) {
    return unlessRefused(error)
  }
}

function unlessRefused(error: unknown): null {
  if (error instanceof Refused) return null
  throw error
}

const acceptedView = ({
  reason,
  workProductRef,
  record,
}: ResultGranted<'ACCEPTED'>): AnswerOf<typeof SubmitAnswer> => ({
  reason,
  workProductRef,
  task: briefView(record),
})

export async function submitBatch(
  kernel: Kernel,
  caller: Caller,
  { results }: z.output<typeof ResultBatchBody>,
): Promise<AnswerOf<typeof ResultBatchAnswer>> {
  const limits = await kernel.limits(caller.workspaceId)
  const replies = await runMany(kernel, caller, results, (work) => {
    const { taskId, session, generation } = work
    const submission = submissionWithin(limits, work)
    return onTask(taskId, { kind: 'submit', fence: { session, generation }, submission })
  })
  return {
    results: replies.map((reply, i) => ({
      taskId: results[i]!.taskId,
      ...outcome(reply, acceptedView),
    })),
  }
}

/** What is known of a failure that a run of Baton reports. */
export interface FailedRun {
  spent?: SpentByRun | undefined
  spendsNoAttempt?: boolean | undefined
  tookTooLong?: boolean | undefined
  budget?: StoppedBy | undefined
  /** What it would have submitted. */
  work?: Work | undefined
}

export async function failTask(
  kernel: Kernel,
  caller: Caller,
  uuid: string,
  body: z.output<typeof FailBody>,
  run: FailedRun = {},
): Promise<AnswerOf<typeof FailAnswer>> {
  const { session, generation, failureClass, error, stack, retryAt } = body
  const reply = await command(kernel, caller, uuid, {
    kind: 'fail',
    fence: { session, generation },
    failureClass,
    error: error ?? null,
    stack,
    retryAt: retryAt === undefined ? undefined : Date.parse(retryAt),
    spent: run.spent,
    spendsNoAttempt: run.spendsNoAttempt,
    tookTooLong: run.tookTooLong,
    budget: run.budget,
    submission: run.work && (await submissionOf(kernel, caller, run.work)),
  })
  return { reason: reply.reason, task: briefView(reply.record) }
}
