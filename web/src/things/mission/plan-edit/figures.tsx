import { useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { ProblemBox } from '../../../parts/problem.tsx'
import { countText } from '../../../parts/wording.ts'
import { estimateWords } from '../plan-version.tsx'
import { timeWords } from './plan-figures.ts'
import type { PlanProblem } from './plan-problems.ts'
import type { Json } from './plan-value.ts'
import { factsOf } from './row-facts.ts'
import type { usePlanCheck } from './use-plan-check.ts'

type Check = ReturnType<typeof usePlanCheck>

const counted = (count: number, one: string) => `${countText(count)} ${count === 1 ? one : `${one}s`}`

/** Why nobody knows what it costs. */
function unknownCost({ estimate }: NonNullable<Check['answer']>): string | null {
  if (estimate.costUsd !== null) return null
  if (estimate.unknownModels.length > 0) return `no price is known of ${estimate.unknownModels.join(', ')}`
  return estimate.withoutModel > 0 ? `${counted(estimate.withoutModel, 'task')} without a known model` : null
}

/** What the whole plan is, and what it may take. */
export function Figures(props: {
  tasks: readonly Json[]
  steps: number
  upstream: readonly (readonly number[])[]
  check: Check
  /** How many tasks name agents that may not do them. */
  notes: number
}) {
  const { tasks, steps, upstream, check, notes } = props
  const { answer, error, isCurrent, problems } = check
  const why = answer && unknownCost(answer)
  return (
    <div aria-live="polite" className="flex flex-col gap-2">
      <p className="text-row text-muted tabular-nums">
        <span className="font-medium text-ink">
          {counted(tasks.length, 'task')} in {counted(steps, 'step')}
        </span>
        {answer && problems.length === 0 && (
          <>
            {' · '}
            {estimateWords(answer.estimate)}
            {why && ` (${why})`}
          </>
        )}
        {' · '}
        {timeWords(tasks, upstream)}
        {isCurrent && problems.length === 0 && !error && answer && (
          <span className="text-done"> · No problems</span>
        )}
        {notes > 0 && <span className="text-ask"> · {counted(notes, 'task')} with a note about agents</span>}
      </p>
      {error !== null && <ProblemBox error={error} onRetry={check.again} />}
    </div>
  )
}

const AT_FIRST = 5
/** However many there are, no more are drawn. */
const MOST_SHOWN = 100

/** All problems at once, each with its place. */
export function ProblemList(props: {
  problems: readonly PlanProblem[]
  tasks: readonly Json[]
  onShow: (problem: PlanProblem) => void
}) {
  const { problems, tasks, onShow } = props
  const [isWhole, setWhole] = useState(false)
  if (problems.length === 0) return null
  const most = isWhole ? MOST_SHOWN : AT_FIRST
  const left = problems.length - most
  return (
    <section aria-label="Problems" className="rounded-card bg-bad-tint px-3 py-2 text-row text-bad">
      <h3 className="flex items-center gap-1.5 font-medium">
        <Icon name="warning" size={14} />
        {counted(problems.length, 'problem')}
      </h3>
      <ul className="mt-1 max-h-60 overflow-y-auto">
        {problems.slice(0, most).map((problem, place) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: two problems may be the same words at one place
          <li key={place}>
            <button
              className="focus-inside touchable w-full rounded-chip px-1 py-0.5 text-left break-words hover:underline"
              onClick={() => onShow(problem)}
              type="button"
            >
              <span className="font-medium">{whereWords(problem, tasks)}</span>
              {problem.words}
            </button>
          </li>
        ))}
      </ul>
      {left > 0 && !isWhole && (
        <Button kind="quiet" onClick={() => setWhole(true)} size="small">
          Show {countText(Math.min(left, MOST_SHOWN - AT_FIRST))} more
        </Button>
      )}
      {left > 0 && isWhole && (
        <p className="px-1 text-label">And {countText(left)} more: they are marked at their tasks.</p>
      )}
    </section>
  )
}

function whereWords({ task, line }: PlanProblem, tasks: readonly Json[]): string {
  const found = task === null ? undefined : tasks[task]
  const name = found && ` “${factsOf(found).name.slice(0, 60)}”`
  const parts = [task !== null && `Task ${task + 1}${name ?? ''}`, line !== null && `line ${line}`].filter(
    Boolean,
  )
  return parts.length === 0 ? '' : `${parts.join(', ').replace(/^l/, 'L')}: `
}
