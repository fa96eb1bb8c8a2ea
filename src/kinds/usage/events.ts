import { z } from 'zod'
import { eventsAbout, text } from '../../pure/event.ts'

const event = eventsAbout({ entity: 'task' }, { agent: text })

export const usageEvents = {
  /** What the claim of an agent that Baton does not run has used, every five seconds at most. */
  claim_usage: event.debug(
    {
      tokens: z.int(),
      costUsd: text.nullable(),
      taskTokens: z.int(),
      taskCostUsd: text.nullable(),
    },
    ({ agent, tokens }) => `${agent} has used ${tokens} tokens for the task.`,
  ),
  /** Before a result is accepted: its tokens are out of proportion to the lines it changed. */
  task_inefficient: event.warn(
    {
      runId: text,
      changedLines: z.int(),
      expectedTokens: z.int(),
      tokensUsed: z.int(),
      efficiency: z.number(),
    },
    ({ agent, changedLines, tokensUsed, expectedTokens }) =>
      `${agent} used ${tokensUsed} tokens for ${changedLines} changed lines, where ${expectedTokens} were expected. Look at its log for waste.`,
  ),
}

type UsageEvents = typeof usageEvents
declare module '../events.ts' {
  interface Catalogue extends UsageEvents {}
}
