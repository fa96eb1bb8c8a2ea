/** In the address, so that a view can be shared as a link. */
export const WORKER_TABS = ['workers', 'sessions', 'dead-letters'] as const
export type WorkerTab = (typeof WORKER_TABS)[number]
