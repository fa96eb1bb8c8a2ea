import { withBlanks } from '../../../pure/code-words.ts'
import type { FailureClass } from '../../task/rules/retry.ts'

/** How runs end, and what that means for the task. docs/runs.md shows this table. */

interface RunError {
  /** The failure class its task gets; null releases the task, and no attempt is spent. */
  readonly task: FailureClass | null
  /** It would fail the same way with any task: the agent gets no more work until a person has repaired it. */
  readonly stopsAgent: boolean
  readonly title: string
}

/** Why a run did not succeed (Paperclip 12.1, extended). */
export const RUN_ERRORS = {
  adapter_not_installed: { task: null, stopsAgent: true, title: 'The command of the agent was not found' },
  invalid_working_directory: { task: null, stopsAgent: true, title: 'The working directory cannot be used' },
  invalid_configuration: {
    task: null,
    stopsAgent: true,
    title: 'The configuration of the agent is not valid',
  },
  invalid_task: {
    task: 'invalid',
    stopsAgent: false,
    title: 'The task asks for something that its agent cannot do',
  },
  not_allowed_here: {
    task: null,
    stopsAgent: true,
    title: 'The operator of the node does not allow this agent',
  },
  not_logged_in: {
    task: null,
    stopsAgent: true,
    title: 'The agent is not logged in, or its key was rejected',
  },
  work_elsewhere: {
    task: 'infrastructure',
    stopsAgent: false,
    title: 'The work of the attempt before is on another node',
  },
  work_not_saved: { task: 'infrastructure', stopsAgent: false, title: 'The work could not be saved' },
  work_incomplete: { task: 'quality', stopsAgent: false, title: 'The work that was handed in is incomplete' },
  spawn_failed: { task: 'infrastructure', stopsAgent: false, title: 'The process could not be started' },
  hook_failed: { task: 'infrastructure', stopsAgent: false, title: 'The hook before the run failed' },
  timeout: { task: 'infrastructure', stopsAgent: false, title: 'The run timed out' },
  cancelled: { task: null, stopsAgent: false, title: 'The run was cancelled' },
  claim_lost: { task: null, stopsAgent: false, title: 'The run lost its claim on the task' },
  nonzero_exit: { task: 'infrastructure', stopsAgent: false, title: 'The process exited with an error' },
  api_error: { task: 'infrastructure', stopsAgent: false, title: 'The request to the model failed' },
  output_parse_error: { task: 'infrastructure', stopsAgent: false, title: 'The output holds no result' },
  resume_session_invalid: {
    task: 'infrastructure',
    stopsAgent: false,
    title: 'The session to resume no longer exists, and a new one could not be started',
  },
  budget_blocked: { task: 'budget', stopsAgent: false, title: 'The budget is used up' },
  rate_limited: { task: 'rate_limited', stopsAgent: false, title: 'The model is rate limited' },
  refused: { task: 'human', stopsAgent: false, title: 'The model refused the task' },
  loop_detected: { task: 'quality', stopsAgent: false, title: 'The agent repeats itself without progress' },
  stalled: { task: 'infrastructure', stopsAgent: false, title: 'The agent gave no sign of life' },
  no_progress: { task: 'quality', stopsAgent: false, title: 'No output before the timeout' },
  adapter_error: { task: 'infrastructure', stopsAgent: false, title: 'The adapter failed' },
  control_plane_restart: { task: null, stopsAgent: false, title: 'The node stopped during the run' },
} as const satisfies Record<string, RunError>

export type RunErrorCode = keyof typeof RUN_ERRORS
export const runErrorCodes = Object.keys(RUN_ERRORS) as RunErrorCode[]

/** Why a run ended badly, in words: what its own program exited with says more than that it failed. */
export function runErrorWords(code: string, exitCode: number | null = null): string {
  if (code === 'nonzero_exit' && exitCode !== null) return `It exited with code ${exitCode}`
  return Object.hasOwn(RUN_ERRORS, code) ? RUN_ERRORS[code as RunErrorCode].title : withBlanks(code)
}
