/** The views of a run, as the address names them. */
export const RUN_VIEWS = ['nice', 'raw', 'timeline', 'details'] as const
export type RunView = (typeof RUN_VIEWS)[number]
