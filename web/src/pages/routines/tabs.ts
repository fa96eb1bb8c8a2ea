/** In the address, so that a view can be shared as a link. */
export const ROUTINE_TABS = ['missions', 'settings', 'plan'] as const
export type RoutineTab = (typeof ROUTINE_TABS)[number]
