import type { z } from 'zod'
import { slugOf, slugUnlessOwn, unlessOwn } from '../../../door/named-agents.ts'
import type { RunKernel, ServerKernel } from '../../../door/server-kernel.ts'
import { BatchLoader } from '../../../kernel/batch-loader.ts'
import { systemCaller } from '../../../kernel/caller.ts'
import { freshUuid } from '../../../kernel/fresh-uuid.ts'
import { type Caller, principalOf } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { viewOf } from '../../../pure/fields.ts'
import { isUuid } from '../../../pure/ids.ts'
import type { AnswerOf, ListAnswer } from '../../../pure/shapes.ts'
import { originOf } from '../../events.ts'
import { command, taskIdOf } from '../../task/acts/tasks.ts'
import type { TaskCommand } from '../../task/command.ts'
import { CONTINUATION_DELAY_MS } from '../../task/rules/retry.ts'
import { listWakeups } from '../postgres/wakeups.ts'
import { SHOWN_WAKEUP_FIELDS, type Wakeup } from '../record.ts'
import { requestWakeups, type WakeupRequest } from '../rules/request-wakeups.ts'
import { scheduleTimers } from '../rules/runtime-state.ts'
import { SKIP_REASONS, type SkipReason, type WakeupCause } from '../rules/wakeups.ts'
import { type ListedWakeup, type WakeupAnswer, type WakeupBody, WakeupView } from '../shapes/runs.ts'
import { isSkipped } from '../states.ts'

/** Every wakeup of an agent goes through here: from people, assignments, timers and other programs. */

const asked = (about: Partial<WakeupCause> & Pick<WakeupCause, 'source' | 'actor'>): WakeupCause => ({
  id: freshUuid(),
  triggerDetail: null,
  reason: null,
  payload: undefined,
  task: null,
  idempotencyKey: null,
  depth: 0,
  isContinuation: false,
  delayMs: 0,
  ...about,
})

/** Batches requests of people and programs: concurrent ones are decided together, so a burst does not queue up. */
export class WakeupRequests {
  readonly kernel: ServerKernel
  readonly requests: BatchLoader<WakeupRequest, Wakeup | null>

  constructor(kernel: ServerKernel) {
    this.kernel = kernel
    this.requests = new BatchLoader((workspaceId, requests) =>
      kernel.step({ workspaceId }, requestWakeups(requests)),
    )
  }
}

export async function wakeAgent(
  { kernel, requests }: WakeupRequests,
  caller: Caller,
  name: string,
  body: z.output<typeof WakeupBody>,
): Promise<AnswerOf<typeof WakeupAnswer>> {
  // Whether an agent of this slug exists is decided with the request: a burst of them reads nothing first.
  const slug = isUuid(name) ? await slugUnlessOwn(kernel, caller, name) : unlessOwn(name)
  const { reason, payload, taskId, idempotencyKey } = body
  const task = taskId === undefined ? null : { id: taskIdOf(taskId), uuid: taskId, generation: null }
  if (task) await requireTask(kernel, caller, task)
  const [wakeup] = await requests.ask(caller.workspaceId, [
    {
      agent: slug,
      asked: asked({
        ...causeOf(caller, body),
        ...originOf(caller),
        reason: reason ?? null,
        payload,
        task,
        idempotencyKey: idempotencyKey
          ? `${principalOf(caller)} ${idempotencyKey}`
          : (caller.idempotency?.key ?? null),
      }),
    },
  ])
  if (!wakeup) throw new Refused('NOT_FOUND', `There is no agent "${name}" in this workspace.`)
  const [shown] = await wakeupViews(kernel, caller, [wakeup])
  return { wakeup: shown! }
}

/** A program outside calls back. Its idempotency key is its own: it begins with who it is. Null: there is no such agent. */
export async function wakeByCallback(
  { requests }: WakeupRequests,
  caller: Caller,
  agent: string,
  about: Pick<WakeupCause, 'id' | 'reason' | 'payload' | 'idempotencyKey'>,
): Promise<Wakeup | null> {
  const cause = { source: 'automation', triggerDetail: 'callback' } as const
  const request = { ...cause, ...originOf(caller), ...about }
  const [wakeup] = await requests.ask(caller.workspaceId, [
    { agent: unlessOwn(agent), asked: asked(request) },
  ])
  return wakeup ?? null
}

/** A run cannot claim another source: its wakeups count as automation, one level deeper than the run itself. */
function causeOf({ run }: Caller, { source, triggerDetail }: z.output<typeof WakeupBody>) {
  if (run) return { source: 'automation', triggerDetail: null, depth: run.depth + 1 } as const
  return { source, triggerDetail: triggerDetail ?? (source === 'on_demand' ? ('manual' as const) : null) }
}

async function requireTask(kernel: ServerKernel, caller: Caller, { id, uuid }: { id: number; uuid: string }) {
  const [found] = await kernel.store.recordsById(caller.workspaceId, [id])
  if (found?.uuid !== uuid) throw new Refused('NOT_FOUND', `There is no task ${uuid} in this workspace.`)
}

export async function wakeupPage(
  kernel: ServerKernel,
  caller: Caller,
  name: string,
  part: { before: string | null; limit: number; withPayload: boolean },
): Promise<ListAnswer<AnswerOf<typeof ListedWakeup>>> {
  const agent = await slugOf(kernel, caller, name)
  const { rows, more } = await listWakeups(kernel.store.readers, caller.workspaceId, { agent, ...part })
  const views = await wakeupViews(kernel, caller, rows)
  const items = views.map(({ payload, ...view }) => ({ ...view, ...(part.withPayload ? { payload } : {}) }))
  return { items, nextCursor: more ? rows.at(-1)!.id : null }
}

async function wakeupViews(kernel: ServerKernel, { workspaceId }: Caller, wakeups: readonly Wakeup[]) {
  const actors = wakeups.map(({ requestedBy }) => requestedBy)
  const nameOf = await kernel.actorNames.of(workspaceId, actors)
  return wakeups.map((wakeup) => wakeupView(wakeup, nameOf(wakeup.requestedBy)))
}

const viewOfWakeup = viewOf(SHOWN_WAKEUP_FIELDS, WakeupView)

function wakeupView(wakeup: Wakeup, requestedByName: string | null): AnswerOf<typeof WakeupView> {
  const { intoId, skipReason } = wakeup
  return {
    ...viewOfWakeup(wakeup),
    taskId: wakeup.taskUuid,
    requestedByName,
    detail: skipReason === null ? null : (SKIP_REASONS[skipReason as SkipReason] ?? skipReason),
    coalescedInto: intoId,
  }
}

const START = { source: 'assignment', reason: 'assigned' } as const
/** Requested by the task itself, not by a caller. */
const CONTINUE = {
  source: 'automation',
  triggerDetail: 'system',
  reason: 'continuation',
  isContinuation: true,
  delayMs: CONTINUATION_DELAY_MS,
} as const

/**
 * Wakes agents that Baton runs for assigned or continuing tasks without a pending wakeup. It is queried, not kept in memory:
 * after a crash between an assignment and its wakeup, the next pass finds the task.
 */
export async function wakeForWork(kernel: RunKernel, only: number | null, term?: number): Promise<number> {
  const found = await kernel.store.wakeups.workWithout(only)
  for (const workspaceId of new Set(found.map((one) => one.workspaceId))) {
    const own = found.filter((one) => one.workspaceId === workspaceId)
    const requests = own.map(({ agent, taskId, uuid, generation, state, depth }) => {
      const task = { id: taskId, uuid, generation }
      const cause = state === 'continuing' ? CONTINUE : START
      // A continuation keeps the depth of the previous run.
      return { agent, asked: asked({ ...cause, actor: 'system', task, depth }) }
    })
    const wakeups = await kernel.step({ workspaceId, term }, requestWakeups(requests))
    for (const wakeup of wakeups)
      if (wakeup && isSkipped(wakeup.status)) await releaseUnwoken(kernel, workspaceId, wakeup)
  }
  return found.length
}

/**
 * A task whose wakeup was skipped must not stay idle. If the agent was woken for it too often, the task goes to a person;
 * otherwise it is released for other agents.
 */
async function releaseUnwoken(kernel: RunKernel, workspaceId: number, wakeup: Wakeup): Promise<void> {
  const { agent, taskUuid, generation, skipReason } = wakeup
  const fence = { session: `agent:${agent}`, generation: generation! }
  const caller = { ...systemCaller(workspaceId), actor: `agent:${agent}` }
  const isCapped = skipReason === 'RATE_CAPPED'
  const act: TaskCommand = isCapped
    ? { kind: 'fail', fence, failureClass: 'human', error: SKIP_REASONS.RATE_CAPPED }
    : {
        ...{ kind: 'release', fence, reason: skipReason ?? 'not woken' },
        waitsForAgent: skipReason === 'AGENT_PAUSED',
      }
  await command(kernel, caller, taskUuid!, act).catch((error) => {
    // Refused: the claim ended in the meantime, so there is nothing to release.
    if (!(error instanceof Refused)) throw error
  })
}

/** Wakes agents whose timer is due. Returns how many were woken. */
export async function wakeByClock(
  kernel: RunKernel,
  only: number | undefined,
  limit: number,
  term?: number,
): Promise<number> {
  let woken = 0
  const due = await kernel.store.wakeups.dueTimers(limit, only)
  for (const workspaceId of new Set(due.map((one) => one.workspaceId))) {
    const own = due.filter((one) => one.workspaceId === workspaceId)
    const requests = own
      .filter(({ at }) => at !== null)
      .map(({ agent, at }) => ({
        agent,
        // Keyed by the due time: a repeat after a crash, or from another node, is the same wakeup.
        asked: asked({ source: 'timer', actor: 'system', reason: 'timer', idempotencyKey: `timer:${at}` }),
      }))
    woken += requests.length
    if (requests.length > 0) await kernel.step({ workspaceId, term }, requestWakeups(requests))
    const slugs = own.map(({ agent }) => agent)
    await kernel.step({ workspaceId, term }, scheduleTimers(slugs))
  }
  return woken
}
