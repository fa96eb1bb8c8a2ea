import { refuse } from '../../../pure/errors.ts'
import type { Act } from './draft.ts'

/**
 * Reports on the mission and on its tasks. Their versions follow from what the caller read; the number of reports tells whether
 * that is still so, whatever they are about.
 */
export const report: Act<'report'> = (draft, { seen, reports }) => {
  if (draft.record.reportCount !== seen)
    return refuse('CHANGED_SINCE', 'Another report on this mission was written in the meantime.')
  for (const one of reports) draft.report(one)
  return null
}
