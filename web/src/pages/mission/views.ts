/** In the address, so that a view can be shared as a link. */
export const MISSION_VIEWS = ['tasks', 'plan', 'report', 'comments'] as const
export type MissionView = (typeof MISSION_VIEWS)[number]
