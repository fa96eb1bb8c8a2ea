import { RUN_ERRORS, type RunErrorCode, runErrorWords } from '../../../../src/kinds/run/rules/outcomes.ts'

/** What a bad end of a run means, and the one act that helps. */

export type EndingAct = 'open_task' | 'open_agent' | 'resume_agent' | null

export interface Ending {
  readonly title: string
  readonly forTask: string | null
  readonly forAgent: string | null
  /** What to do, in one sentence. */
  readonly next: string
  readonly command: string | null
  readonly act: EndingAct
}

interface EndedRun {
  readonly errorCode: string | null
  readonly exitCode: number | null
  readonly adapterType: string
  readonly agent: string
  readonly taskId: string | null
}

const LOGINS: Record<string, string> = {
  claude_local: 'claude auth login',
  codex_local: 'codex login',
  gemini_local: 'gemini',
  opencode_local: 'opencode auth login',
}

const FOR_TASK = {
  infrastructure: 'The task is retried while it has attempts left.',
  quality: 'The task is retried while it has attempts left, with what was wrong in its prompt.',
  rate_limited: 'The task waits until the limit ends. No attempt was spent.',
  budget: 'The task waits until somebody raises its budget.',
  human: 'The task waits for a person.',
  invalid: 'The task has failed: another attempt would end the same way.',
} as const

const NEXT: Partial<Record<RunErrorCode, { next: string; act: EndingAct }>> = {
  adapter_not_installed: {
    next: 'Install the command, or name its path in the settings of the agent.',
    act: 'open_agent',
  },
  invalid_working_directory: {
    next: 'Choose another folder in the settings of the agent.',
    act: 'open_agent',
  },
  invalid_configuration: { next: 'Correct the settings of the agent.', act: 'open_agent' },
  not_allowed_here: {
    next: 'Ask the operator of this node to allow it, or choose another type of agent.',
    act: 'open_agent',
  },
  not_logged_in: { next: 'Log in on the node, then resume the agent.', act: 'resume_agent' },
  invalid_task: { next: 'Change what the task asks for, then retry it.', act: 'open_task' },
  budget_blocked: { next: 'Raise the budget to continue.', act: 'open_task' },
  rate_limited: { next: 'Nothing to do: it continues automatically.', act: null },
  refused: { next: 'Reword the task, or give it to another agent.', act: 'open_task' },
  claim_lost: { next: 'Nothing to do: the current holder continues.', act: 'open_task' },
  cancelled: { next: 'Decide on the page of the task how to continue.', act: 'open_task' },
  control_plane_restart: { next: 'Nothing to do: it is restarted.', act: 'open_task' },
  loop_detected: {
    next: 'Read what it repeated, then say in the task what to do instead.',
    act: 'open_task',
  },
  stalled: {
    next: 'Read its last step. If it works without output for long, give its task a longer stall timeout.',
    act: 'open_task',
  },
  no_progress: { next: 'Read its last step; the task may need more time or less work.', act: 'open_task' },
  work_elsewhere: {
    next: 'Start the node that has it, or start the task over.',
    act: 'open_task',
  },
  work_not_saved: {
    next: 'Read why below, and repair the repository or the disk. What was done is still in the folder.',
    act: 'open_task',
  },
  work_incomplete: {
    next: 'Read what it lacks in its details. A result that is complete enough can be promoted.',
    act: 'open_task',
  },
  timeout: { next: 'The next attempt gets twice the time. Smaller tasks end sooner.', act: 'open_task' },
}
const USUAL_NEXT = { next: 'Read its last steps below, then decide in the task.', act: 'open_task' } as const

const isKnown = (code: string): code is RunErrorCode => Object.hasOwn(RUN_ERRORS, code)

/** Null: it did not end badly. Whether its task has attempts left is known of the newest run only. */
export function endingOf(run: EndedRun, hasAttemptsLeft: boolean | null = null): Ending | null {
  const { errorCode, exitCode, adapterType, agent, taskId } = run
  if (errorCode === null) return null
  if (!isKnown(errorCode))
    return { title: runErrorWords(errorCode), forTask: null, forAgent: null, ...USUAL_NEXT, command: null }
  const { task, stopsAgent } = RUN_ERRORS[errorCode]
  const { next, act } = NEXT[errorCode] ?? USUAL_NEXT
  const login = errorCode === 'not_logged_in' ? (LOGINS[adapterType] ?? null) : null
  return {
    title: runErrorWords(errorCode, exitCode),
    forTask: taskId === null ? null : taskWords(errorCode, task, hasAttemptsLeft),
    forAgent: stopsAgent
      ? `${agent} is stopped: it gets no work until this is fixed and it is resumed.`
      : errorCode === 'rate_limited'
        ? `${agent} is rate limited, with every agent on the same account.`
        : null,
    next,
    command: login,
    act: act === 'open_task' && taskId === null ? null : act,
  }
}

/** Classes of failures after which a task is tried again, if it may be. */
const RETRIED = ['infrastructure', 'quality']

function taskWords(
  code: RunErrorCode,
  task: (typeof RUN_ERRORS)[RunErrorCode]['task'],
  hasAttemptsLeft: boolean | null,
): string {
  if (hasAttemptsLeft === false && task !== null && RETRIED.includes(task))
    return 'It was the last attempt of the task.'
  if (code === 'claim_lost') return 'The task is not affected: another holder has it now.'
  if (code === 'cancelled')
    return 'Stopped by a person, the task waits for one; otherwise it went back to the queue.'
  if (code === 'timeout') return 'The task is retried with twice the time while it has attempts left.'
  return task === null ? 'The task went back to the queue. No attempt was spent.' : FOR_TASK[task]
}
