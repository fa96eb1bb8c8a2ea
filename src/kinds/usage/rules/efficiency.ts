import { workspaceEvent } from '../../events.ts'
import { NOTHING_ASKED, NOTHING_CHANGED, type RunsStep } from '../../run/rules/step.ts'

/** Whether the tokens of a task are in proportion to what it changed. A warning, which stops nothing. */

const TOKENS_PER_LINE = 150
const LEAST_EFFICIENCY = 0.5

export interface Efficiency {
  changedLines: number
  /** What so many lines may take. */
  expectedTokens: number
  /** What they took, without cached input. */
  tokensUsed: number
  efficiency: number
  isLow: boolean
}

interface Done {
  insertions: number
  deletions: number
  inputTokens: number
  outputTokens: number
}

/** Null: nothing was used that is known. */
export function efficiencyOf(
  { insertions, deletions, inputTokens, outputTokens }: Done,
  tokensPerLine: number | null,
): Efficiency | null {
  const tokensUsed = inputTokens + outputTokens
  if (tokensUsed <= 0) return null
  const changedLines = insertions + deletions
  const expectedTokens = changedLines * (tokensPerLine ?? TOKENS_PER_LINE)
  // Rounded to two digits for people, after it was compared.
  const efficiency = Math.round((expectedTokens / tokensUsed) * 100) / 100
  return {
    ...{ changedLines, expectedTokens, tokensUsed, efficiency },
    isLow: expectedTokens < tokensUsed * LEAST_EFFICIENCY,
  }
}

/** In the log, before its result is accepted. */
export const warnOfEfficiency = (
  about: { taskId: string; agent: string; runId: string },
  { changedLines, expectedTokens, tokensUsed, efficiency }: Efficiency,
): RunsStep<void> => ({
  on: 'runs',
  reads: NOTHING_ASKED,
  decide: ({ now }) => ({
    answer: undefined,
    changes: {
      ...NOTHING_CHANGED,
      events: [
        workspaceEvent(
          'task_inefficient',
          { ...about, changedLines, expectedTokens, tokensUsed, efficiency },
          { actor: 'system', now },
        ),
      ],
    },
  }),
})
