import type { UpkeepStep } from '../../door/upkeep-step.ts'
import { systemCaller } from '../../kernel/caller.ts'
import { BATCH, type UpkeepContext } from '../../kernel/upkeep-context.ts'
import { commandSession } from './acts/commands.ts'

/** Sessions, including workers, without a heartbeat for too long. */
export async function expireSessions(context: UpkeepContext): Promise<number> {
  const { kernel, term, listeningSince, only } = context
  const due = await kernel.store.dueSessions(BATCH, only)
  await Promise.all(
    due.map(({ workspaceId, name }) =>
      commandSession(kernel, systemCaller(workspaceId, term), name, { kind: 'elapse', listeningSince }),
    ),
  )
  return due.length
}

export const sessionSteps: readonly UpkeepStep[] = [
  { name: 'sessionsJudged', phase: 'expire', everyMs: 0, run: expireSessions },
]
