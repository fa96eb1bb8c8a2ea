import type { FailureClass } from '../retry.ts'

/** How runs end, and what that means for the task. docs/runs.md shows this table. */

export const RUN_STATES = ['queued', 'running', 'succeeded', 'failed', 'cancelled', 'timed_out'] as const
export type RunState = (typeof RUN_STATES)[number]
export const isOver = (state: RunState) => state !== 'queued' && state !== 'running'

interface RunError {
  /** How its task goes on; null gives it back as it was, no attempt spent. */
  readonly task: FailureClass | null
  /** It would fail the same way with any task: the agent takes nothing more until a person has looked at it. */
  readonly stopsAgent: boolean
  readonly title: string
}

/** Why a run did not succeed (Paperclip 12.1 and what agents do besides). */
export const RUN_ERRORS = {
  adapter_not_installed: { task: null, stopsAgent: true, title: 'The program of the agent is not there' },
  invalid_working_directory: { task: null, stopsAgent: true, title: 'Its folder cannot be worked in' },
  invalid_configuration: { task: null, stopsAgent: true, title: 'Its settings cannot be used' },
  not_allowed_here: { task: null, stopsAgent: true, title: 'The operator of its node does not allow it' },
  not_logged_in: {
    task: null,
    stopsAgent: true,
    title: 'Its program is not logged in, or its key is refused',
  },
  spawn_failed: { task: 'infrastructure', stopsAgent: false, title: 'Its program could not be started' },
  timeout: { task: 'infrastructure', stopsAgent: false, title: 'It took longer than it may' },
  cancelled: { task: null, stopsAgent: false, title: 'It was stopped on purpose' },
  claim_lost: { task: null, stopsAgent: false, title: 'Its task was taken from it' },
  nonzero_exit: { task: 'infrastructure', stopsAgent: false, title: 'Its program ended with an error' },
  api_error: { task: 'infrastructure', stopsAgent: false, title: 'The model could not be asked' },
  output_parse_error: { task: 'infrastructure', stopsAgent: false, title: 'It did not say how it ended' },
  resume_session_invalid: {
    task: 'infrastructure',
    stopsAgent: false,
    title: 'Its session is not known any more, and it could not begin a new one',
  },
  budget_blocked: { task: 'budget', stopsAgent: false, title: 'It has spent what it may' },
  rate_limited: { task: 'rate_limited', stopsAgent: false, title: 'The model takes no more for now' },
  refused: { task: 'human', stopsAgent: false, title: 'The model will not do it' },
  loop_detected: { task: 'quality', stopsAgent: false, title: 'It did the same again and again' },
  no_progress: { task: 'quality', stopsAgent: false, title: 'It lived on without a word' },
  adapter_error: { task: 'infrastructure', stopsAgent: false, title: 'The adapter itself failed' },
  control_plane_restart: { task: null, stopsAgent: false, title: 'Its node went away' },
} as const satisfies Record<string, RunError>

export type RunErrorCode = keyof typeof RUN_ERRORS
export const runErrorCodes = Object.keys(RUN_ERRORS) as RunErrorCode[]
