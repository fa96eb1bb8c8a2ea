import { param } from '../../search-params.ts'

const MISSIONS_VIEWS = ['list', 'board'] as const
export type MissionsView = (typeof MISSIONS_VIEWS)[number]

/** What the address of the missions may say. */
export const MISSIONS_SEARCH = { view: param.oneOf(MISSIONS_VIEWS) }
