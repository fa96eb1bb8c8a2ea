import type { ServerKernel } from '../../door/server-kernel.ts'
import type { ServerStore } from '../../door/server-store.ts'
import type { UpkeepStep } from '../../door/upkeep-step.ts'
import { refusalOf, systemCaller, throwIfNotLeader } from '../../kernel/caller.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { RoutineDue } from '../../kernel/store/run-store.ts'
import { BATCH, type UpkeepContext } from '../../kernel/upkeep-context.ts'
import { idCarriedBy } from '../../pure/ids.ts'
import { missionOf } from './acts/runs.ts'

/** What time does to routines. Everything that is due is found from their rows, by the node that leads. */

export async function settleRoutines({ kernel, term, only }: UpkeepContext<ServerStore>): Promise<number> {
  const due = await kernel.store.routines.due(BATCH, only)
  await Promise.all(due.map((one) => settleRoutine(kernel, one, term)))
  return due.length
}

async function settleRoutine(
  kernel: ServerKernel,
  { workspaceId, uuid, chore }: RoutineDue,
  term: number | undefined,
): Promise<void> {
  const caller = systemCaller(workspaceId, term)
  if (chore === 'replace') await replace(kernel, caller, uuid)
  else await elapse(kernel, caller, uuid)
}

/** The one that waits starts when those before have ended, and no process of theirs is left. */
async function replace(kernel: ServerKernel, caller: Caller, uuid: string): Promise<void> {
  const command = { kind: 'cancel', reason: 'The next mission of its routine replaces it.' } as const
  for (const mission of await kernel.store.routines.underWay(caller.workspaceId, idCarriedBy(uuid)!))
    throwIfNotLeader(await kernel.run(caller, { on: 'mission', key: mission, uuid: mission, command }))
}

async function elapse(kernel: ServerKernel, caller: Caller, uuid: string): Promise<void> {
  const routine = await kernel.store.routines.find(caller.workspaceId, idCarriedBy(uuid)!)
  if (!routine) return
  const { version } = routine
  const refusal = await refusalOf(async () => {
    const mission = await missionOf(kernel, caller, routine, {})
    const command = { kind: 'elapse', version, mission } as const
    return throwIfNotLeader(await kernel.run(caller, { on: 'routine', key: uuid, uuid, command }))
  })
  // Changed or removed meanwhile: whatever is due then is found again.
  if (!refusal || refusal.code === 'CHANGED_SINCE' || refusal.code === 'NOT_FOUND') return
  // Otherwise it would stay due forever.
  const command = { kind: 'fail', version, reason: refusal.detail } as const
  throwIfNotLeader(await kernel.run(caller, { on: 'routine', key: uuid, uuid, command }))
}

export const routineSteps: readonly UpkeepStep[] = [
  // After missions (kinds/all.ts): one that has just ended makes room for the next.
  { name: 'routinesSettled', phase: 'settle', everyMs: 0, run: settleRoutines },
]
