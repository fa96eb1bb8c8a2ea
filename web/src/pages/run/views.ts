/** The views of a run, as the address names them; and by older addresses. */
export const RUN_VIEWS = ['transcript', 'raw', 'timeline', 'details'] as const
export type RunView = (typeof RUN_VIEWS)[number]
export const OLDER_RUN_VIEWS = { nice: 'transcript' } as const satisfies Record<string, RunView>
