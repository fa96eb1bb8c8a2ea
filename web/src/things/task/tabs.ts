/** The tabs of a task, as the address names them. */
export const TASK_TABS = ['activity', 'attempts', 'results', 'runs', 'code', 'events'] as const
export type TaskTab = (typeof TASK_TABS)[number]

/** What older addresses call them. Comments are part of what happened. */
export const OLDER_TASK_TABS = { lineage: 'attempts', comments: 'activity' } as const

/** What happened is shown newest first, unless the address says otherwise. */
export const ORDERS = ['oldest'] as const
