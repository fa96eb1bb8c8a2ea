/** What the run that a command comes from has used; shown in the event of the change. */
export interface SpentByRun {
  runId: string
  model: string | null
  tokens: number
  costUsd: string | null
  /** How its program exited; null when it has none, or did not exit by itself. */
  exitCode?: number | null | undefined
  /** Why it failed. */
  errorType?: string | undefined
}
