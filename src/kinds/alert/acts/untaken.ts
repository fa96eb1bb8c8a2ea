import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { ServerStore } from '../../../door/server-store.ts'
import { systemCaller, throwIfNotLeader } from '../../../kernel/caller.ts'
import type { UpkeepContext } from '../../../kernel/upkeep-context.ts'
import type { TaskCommand } from '../../task/command.ts'
import { lookForUntaken, scheduleAlertCheck, workspacesWithUntaken } from '../postgres/untaken.ts'
import { markChanges } from '../rules/untaken.ts'

/** Tells people about tasks that nobody takes, and that it is over: each an event in the transaction that changes the task. */

/** What is true at once must last this long before upkeep tells people: tasks are often made before their agents. */
const GRACE_MS = 5_000
/** A workspace whose log did not move is looked at again after this long: a preference ends without an event. */
const LOOK_ANYWAY_MS = 60_000

/** How many tasks one transaction changes. */
const TASKS_AT_A_TIME = 500

/** When each workspace was last looked at, and how far its log was. Only what is lost with it is looked at again. */
export class MarkLooks extends Map<number, { seq: number; at: number }> {}

interface Context extends UpkeepContext<ServerStore> {
  looks: MarkLooks
  /** 0: a person asks for everything that is due. */
  graceMs?: number | undefined
}

/** Looks at the workspaces whose log has moved, or whose time has come. Returns how many marks were made or removed. */
export async function settleMarks(context: Context): Promise<number> {
  const { kernel, term, only, looks, graceMs = GRACE_MS } = context
  const waiting = await workspacesWithUntaken(kernel.store.readers, only)
  const known = new Map(looks)
  const asked = performance.now()
  if (only === undefined) looks.clear()
  let changed = 0
  for (const { workspaceId, seq, isDue } of waiting) {
    const last = known.get(workspaceId)
    if (last?.seq === seq && !isDue && asked - last.at < LOOK_ANYWAY_MS) {
      looks.set(workspaceId, last)
      continue
    }
    changed += await settleMarksOf(kernel, workspaceId, { term, graceMs })
    looks.set(workspaceId, { seq, at: asked })
  }
  return changed
}

/** Without a grace: a person who looks is told what is true now. */
export async function settleMarksOf(
  kernel: ServerKernel,
  workspaceId: number,
  { term, graceMs = 0 }: { term?: number | undefined; graceMs?: number } = {},
): Promise<number> {
  const { readers, writers } = kernel.store
  const { untaken, raised, longMs, dueAt, now } = await lookForUntaken(readers, workspaceId)
  const { raise, clear, nextAt } = markChanges(untaken, raised, now, Math.min(graceMs, longMs))
  const items = [
    ...clear.map(({ id, uuid }) => ({ taskId: id, uuid, command: { kind: 'clearAlert' } as TaskCommand })),
    ...raise.map(({ id, uuid, reason, version }) => ({
      ...{ taskId: id, uuid },
      command: { kind: 'raiseAlert', reason, version } as TaskCommand,
    })),
  ]
  for (let from = 0; from < items.length; from += TASKS_AT_A_TIME) {
    const some = items.slice(from, from + TASKS_AT_A_TIME)
    throwIfNotLeader(await kernel.run(systemCaller(workspaceId, term), { on: 'many', items: some }))
  }
  // Someone who reads the inbox does not postpone what upkeep waits for.
  if (graceMs > 0 && !isSameTime(nextAt, dueAt)) await scheduleAlertCheck(writers, workspaceId, nextAt)
  return items.length
}

/** A stored time may differ by a rounded millisecond. */
const isSameTime = (one: number | null, other: number | null) =>
  one === null || other === null ? one === other : Math.abs(one - other) <= 1
