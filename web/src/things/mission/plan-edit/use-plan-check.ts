import { useEffect, useState } from 'react'
import type { AnswerTo } from '../../../../../src/client/client.ts'
import { api } from '../../../requests/api.ts'
import type { PlanDraft } from './plan-draft.ts'
import { type PlanProblem, problemsIn } from './plan-problems.ts'
import { tasksIn } from './plan-value.ts'

type Answer = AnswerTo<'POST', '/plans/check'>

interface Checked {
  readonly text: string
  readonly tasks: number
  readonly problems: readonly PlanProblem[]
  /** Of the last plan without problems. */
  readonly answer: Answer | null
  /** Why nobody knows: the server could not be asked. */
  readonly error: unknown
}

const NOTHING: Checked = { text: '', tasks: -1, problems: [], answer: null, error: null }

/** The server's opinion of what is written, asked again whenever the outline and the text are the same. */
export function usePlanCheck({ text, plan, ahead, fault }: PlanDraft) {
  const [checked, setChecked] = useState(NOTHING)
  const [tries, setTries] = useState(0)
  const isReady = ahead === null && fault === null
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text is the plan
  useEffect(() => {
    if (!isReady) return
    const { signal, abort } = abortable()
    const tasks = tasksIn(plan).length
    const say = (found: Partial<Checked>) =>
      setChecked(({ answer }) => ({ text, tasks, problems: [], answer, error: null, ...found }))
    api()
      .post('/plans/check', { body: text, signal })
      .then(
        (answer) => say({ answer }),
        (error: unknown) => {
          if (signal.aborted) return
          const problems = problemsIn(error)
          say(problems ? { problems } : { error })
        },
      )
    return abort
  }, [text, isReady, tries])
  // With tasks added or removed since, problems would be at the wrong ones.
  const isAbout = checked.tasks === tasksIn(plan).length
  return {
    problems: fault ? [faultProblem(fault)] : isAbout ? checked.problems : [],
    answer: checked.answer,
    error: checked.error,
    isCurrent: isReady && checked.text === text,
    again: () => setTries((before) => before + 1),
  }
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

const faultProblem = ({ line, words }: NonNullable<PlanDraft['fault']>): PlanProblem => ({
  task: null,
  field: null,
  words,
  line,
})
