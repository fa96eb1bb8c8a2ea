/** The tabs of a task, as the address names them. */
export const TASK_TABS = ['lineage', 'results', 'comments', 'runs', 'events', 'code'] as const
export type TaskTab = (typeof TASK_TABS)[number]
