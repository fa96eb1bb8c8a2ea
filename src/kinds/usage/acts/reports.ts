import { actsOf } from '../../../door/door.ts'
import { once } from '../../../kernel/once.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import { readTask } from '../../task/acts/tasks.ts'
import { reportUsage } from '../../task/acts/used.ts'
import { judgeFence } from '../../task/rules/fence.ts'
import * as api from '../api/reports.ts'
import type { ClaimBooked } from '../rules/claim-report.ts'
import type { UsageAnswer } from '../shapes.ts'

/** What holders report that Baton does not run. */

const view = (
  uuid: string,
  generation: number,
  { isBooked, totals, budget }: ClaimBooked,
): AnswerOf<typeof UsageAnswer> => ({
  ...{ taskId: uuid, generation, isBooked, budget },
  tokens: {
    ...{ input: totals.inputTokens, cachedInput: totals.cachedInputTokens, output: totals.outputTokens },
    cacheWrite: totals.cacheWrite5mTokens + totals.cacheWrite1hTokens,
  },
  ...{ tokensUsed: totals.tokens, costUsd: totals.costUsd, notionalUsd: totals.notionalUsd },
})

export const usageReports = actsOf(api)({
  // A repeat that was not answered before books nothing twice: reports are totals.
  reportUsage: ({ kernel }, { params, body, caller }) =>
    once(kernel, caller, async (alone) => {
      const booked = await reportUsage(kernel, alone, params.id, body)
      if (booked?.isTooLate)
        throw new Refused(
          'WRONG_STATE',
          'The claim ended more than 24 hours ago: what it used is booked no more.',
        )
      const { record } = await readTask(kernel, alone, params.id)
      const refusal = judgeFence(record, body, booked?.now ?? 0, 'STALE_OR_FUTURE')
      if (refusal) throw Refused.because(refusal)
      if (!booked) throw new Refused('SESSION_MISMATCH', 'This session does not hold the task.')
      return view(params.id, body.generation, booked)
    }),
})
