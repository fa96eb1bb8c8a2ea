import type { AnswerTo } from '../../../../src/client/client.ts'
import { checkName } from './check-words.ts'

type Tested = Pick<AnswerTo<'GET', '/agents/:id'>, 'lastTest' | 'lastRun'>

/** What failed when the agent was last tested, in words; null: nothing, or a run has succeeded since. Pure. */
export function failedTest({ lastTest, lastRun }: Tested): string | null {
  if (!lastTest || lastTest.ok) return null
  const hasWorkedSince =
    lastRun?.status === 'succeeded' && lastRun.finishedAt !== null && lastRun.finishedAt > lastTest.at
  return hasWorkedSince ? null : lastTest.failed.map((name) => checkName(name).toLowerCase()).join(', ')
}
