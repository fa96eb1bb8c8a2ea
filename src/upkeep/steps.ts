import { type Refusal, Refused } from '../core/errors.ts'
import type { Granted } from '../core/replies.ts'
import { isTerminal } from '../core/states.ts'
import { failCycles } from '../flow/dependencies.ts'
import { commandSession } from '../flow/session-commands.ts'
import { system, unblockAll, unblockDownstream } from '../flow/unblock.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Store } from '../store/store.ts'

/**
 * What time does, on any store. Every step asks the store what is due and settles it through the one door; nothing that
 * matters is kept here, so a step that is missed, repeated or run on two nodes at once does no harm.
 */

/** How much a step does at a time; when it was as much, there is more. */
export const BATCH = 500

/** Who does the steps: a coordinator under its term of office, or a queue that looks after itself. */
export interface UpkeepContext<S extends Store = Store> {
  kernel: Kernel<S>
  term?: number | undefined
  /** Since when there has been somebody to hear who beats. */
  listeningSince?: number | undefined
  /** Only what is due in this workspace: somebody asked for it there. */
  only?: number | undefined
}

/** A coordinator that was deposed stops where it is. */
function unlessDeposed<G extends Granted>(reply: G | Refusal): G | Refusal {
  if (!reply.ok && reply.code === 'NOT_LEADER') throw Refused.because(reply)
  return reply
}

/** Leases that are over, retries and starts whose hour has come, assignments nobody took up, stalled and hung work. */
export async function moveWhatIsDue(context: UpkeepContext): Promise<number> {
  const { kernel, term, only } = context
  const due = await kernel.store.dueTasks(BATCH, only)
  // Before their hour is over: it is by their hour that they are found here.
  await failCycles(kernel, due, term)
  await Promise.all(
    due.map(async ({ workspaceId, taskId, uuid, version }) => {
      const command = { kind: 'elapse', version } as const
      const caller = system(workspaceId, term)
      const reply = unlessDeposed(await kernel.run(caller, { on: 'task', taskId, uuid, command }))
      if (reply.ok && isTerminal(reply.record.state)) await unblockDownstream(kernel, workspaceId, [taskId])
    }),
  )
  return due.length
}

/** Sessions, workers among them, that were silent for too long. */
export async function judgeSessions(context: UpkeepContext): Promise<number> {
  const { kernel, term, listeningSince, only } = context
  const due = await kernel.store.dueSessions(BATCH, only)
  await Promise.all(
    due.map(({ workspaceId, name }) =>
      commandSession(kernel, system(workspaceId, term), name, { kind: 'elapse', listeningSince }),
    ),
  )
  return due.length
}

/** The net below `unblockDownstream`: what waited for something that ended while nobody could tell it. */
export async function unblockForgotten(context: UpkeepContext): Promise<number> {
  const { kernel, term, only } = context
  const { tasks, followed } = await kernel.store.forgottenTasks(BATCH, only)
  await unblockAll(kernel, tasks, term)
  await followed()
  return tasks.length
}

export async function applyRetention({ kernel }: UpkeepContext): Promise<number> {
  await kernel.store.applyRetention()
  return 0
}
