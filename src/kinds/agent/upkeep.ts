import type { StepContext, UpkeepStep } from '../../door/upkeep-step.ts'
import { systemCaller } from '../../kernel/caller.ts'
import { BATCH } from '../../kernel/upkeep-context.ts'
import { Refused } from '../../pure/errors.ts'
import { commandAgent } from './acts/agents.ts'

/** Agents that stopped sending heartbeats, and agents that were to terminate after their current work. */
async function expireAgents({ kernel, term, listeningSince, only }: StepContext): Promise<number> {
  const due = await kernel.store.agents.due(BATCH, only)
  await Promise.all(
    due.map(({ workspaceId, slug }) =>
      commandAgent(kernel, systemCaller(workspaceId, term), slug, { kind: 'elapse', listeningSince }).catch(
        (error) => {
          // The agent was deleted in the meantime.
          if (!(error instanceof Refused) || error.code !== 'NOT_FOUND') throw error
        },
      ),
    ),
  )
  return due.length
}

export const agentSteps: readonly UpkeepStep[] = [
  { name: 'agentsJudged', phase: 'expire', everyMs: 0, run: expireAgents },
]
