import { WINDOWS } from '../../parts/windows.ts'
import { param } from '../../search-params.ts'

/** The parts of the address of the overview. */
export const OVERVIEW_SEARCH = { window: param.oneOf(WINDOWS) }
