/** In the address, so that a view can be sent to somebody. */
export const MISSION_VIEWS = ['tasks', 'plan', 'report', 'comments'] as const
export type MissionView = (typeof MISSION_VIEWS)[number]
