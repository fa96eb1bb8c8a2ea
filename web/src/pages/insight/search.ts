import { WINDOWS } from '../../parts/windows.ts'
import { param } from '../../search-params.ts'

/** The parts of the address of Insight. */
export const INSIGHT_SEARCH = {
  window: param.oneOf(WINDOWS),
  /** Opens the failures of one cause. */
  cause: param.text,
}
