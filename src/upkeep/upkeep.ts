import type { Logger } from 'pino'
import type { TaskCommand } from '../core/commands.ts'
import type { TaskRecord } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { Kernel } from '../flow/kernel.ts'
import { unblockAll, unblockDownstream } from '../flow/unblock.ts'
import {
  type DueTask,
  dueTasks,
  expiredLeases,
  forgetOldReplies,
  forgottenTasks,
  lookAgainLater,
  renewedLeases,
} from '../store/postgres/due.ts'

const BATCH = 500

/**
 * What time does. Every step asks the database what is due and settles it through the one door; nothing that matters
 * is kept here, so a step that is missed, repeated or run on two nodes at once does no harm.
 */
async function expireLeases(kernel: Kernel): Promise<number> {
  const due = await expiredLeases(kernel.store.readers, BATCH)
  await elapse(kernel, due)
  return due.length
}

async function moveWhatIsDue(kernel: Kernel): Promise<number> {
  const due = await dueTasks(kernel.store.readers, BATCH)
  await elapse(kernel, due)
  return due.length
}

/** A renewed lease is not in the index under its new end; it is moved there when its old end has passed. */
async function followRenewals(kernel: Kernel): Promise<number> {
  const renewed = await renewedLeases(kernel.store.readers, BATCH)
  for (const workspaceId of new Set(renewed.map((claim) => claim.workspaceId))) {
    const own = renewed.filter((claim) => claim.workspaceId === workspaceId)
    await lookAgainLater(
      kernel.store.writers,
      workspaceId,
      own.map(({ taskId }) => taskId),
    )
  }
  return renewed.length
}

async function unblockForgotten(kernel: Kernel): Promise<number> {
  const forgotten = await forgottenTasks(kernel.store.readers, BATCH)
  await unblockAll(kernel, forgotten)
  return 0
}

async function forgetReplies(kernel: Kernel): Promise<number> {
  await forgetOldReplies(kernel.store.writers)
  return 0
}

async function elapse(kernel: Kernel, due: readonly DueTask[]): Promise<void> {
  const command: TaskCommand = { kind: 'elapse' }
  await Promise.all(
    due.map(async ({ workspaceId, taskId, uuid }) => {
      const caller = { workspaceId, actor: 'system', rights: new Set<never>() }
      const reply = await kernel.run(caller, { on: 'task', taskId, uuid, command })
      if (reply.ok && isTerminal((reply.record as TaskRecord).state))
        await unblockDownstream(kernel, workspaceId, [taskId])
    }),
  )
}

interface Step {
  run: (kernel: Kernel) => Promise<number>
  everyMs: number
}

const STEPS: Step[] = [
  { run: expireLeases, everyMs: 250 },
  { run: moveWhatIsDue, everyMs: 250 },
  { run: followRenewals, everyMs: 1_000 },
  { run: unblockForgotten, everyMs: 5_000 },
  { run: forgetReplies, everyMs: 600_000 },
]

/** Runs each step at its pace, again at once while a full batch was due. */
export function startUpkeep(kernel: Kernel, logger: Logger): { stop: () => Promise<void> } {
  const stopping = new AbortController()
  const loops = STEPS.map((step) => keepDoing(step, kernel, logger, stopping.signal))
  return {
    async stop() {
      stopping.abort()
      await Promise.all(loops)
    },
  }
}

async function keepDoing(
  { run, everyMs }: Step,
  kernel: Kernel,
  logger: Logger,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    let done = 0
    try {
      done = await run(kernel)
    } catch (error) {
      logger.warn({ err: error, step: run.name }, 'an upkeep step failed and will be tried again')
    }
    if (done < BATCH) await pause(everyMs, stopping)
  }
}

function pause(ms: number, stopping: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (stopping.aborted) return resolve()
    const done = () => {
      clearTimeout(timer)
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    stopping.addEventListener('abort', done)
  })
}
