import type { TaskCommand } from '../core/commands.ts'
import type { TaskRecord } from '../core/records.ts'
import { isTerminal } from '../core/states.ts'
import type { Kernel } from '../flow/kernel.ts'
import { commandSession } from '../flow/session-commands.ts'
import { system, unblockAll, unblockDownstream } from '../flow/unblock.ts'
import type { DueTask, Store } from '../store/store.ts'

const BATCH = 500

/**
 * What time does. Every step asks the store what is due and settles it through the one door; nothing that matters is
 * kept here, so a step that is missed, repeated or run on two nodes at once does no harm.
 */
async function moveWhatIsDue(kernel: Kernel<Store>): Promise<number> {
  const due = await kernel.store.dueTasks(BATCH)
  await elapse(kernel, due)
  return due.length
}

async function judgeSilence(kernel: Kernel<Store>): Promise<number> {
  const due = await kernel.store.dueSessions(BATCH)
  await Promise.all(
    due.map(({ workspaceId, name }) => commandSession(kernel, system(workspaceId), name, { kind: 'elapse' })),
  )
  return due.length
}

async function unblockForgotten(kernel: Kernel<Store>): Promise<number> {
  await unblockAll(kernel, await kernel.store.forgottenTasks(BATCH))
  return 0
}

async function forgetThePast(kernel: Kernel<Store>): Promise<number> {
  await kernel.store.forgetThePast()
  return 0
}

async function elapse(kernel: Kernel<Store>, due: readonly DueTask[]): Promise<void> {
  const command: TaskCommand = { kind: 'elapse' }
  await Promise.all(
    due.map(async ({ workspaceId, taskId, uuid }) => {
      const reply = await kernel.run(system(workspaceId), { on: 'task', taskId, uuid, command })
      if (reply.ok && isTerminal((reply.record as TaskRecord).state))
        await unblockDownstream(kernel, workspaceId, [taskId])
    }),
  )
}

interface Step {
  run: (kernel: Kernel<Store>) => Promise<number>
  everyMs: number
}

const STEPS: Step[] = [
  { run: moveWhatIsDue, everyMs: 250 },
  { run: judgeSilence, everyMs: 500 },
  { run: unblockForgotten, everyMs: 5_000 },
  { run: forgetThePast, everyMs: 600_000 },
]

/** Somebody to tell of steps that failed; they are tried again. */
interface Complaints {
  warn(about: { err: unknown; step: string }, message: string): void
}

/** Runs each step at its pace, again at once while a full batch was due. */
export function startUpkeep(kernel: Kernel<Store>, logger: Complaints): { stop: () => Promise<void> } {
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
  kernel: Kernel<Store>,
  logger: Complaints,
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
