import { useMutation } from '@tanstack/react-query'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { countText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { estimateWords } from '../../things/mission/plan-version.tsx'
import { type PlanProblem, problemsIn } from './plan-text.ts'

/** A plan as text, checked without creating anything: all problems at once, by line. */
export function PlanField(props: {
  value: string
  onChange: (plan: string) => void
  /** What the server found when the mission was made. */
  refused: readonly PlanProblem[] | null
}) {
  const { value, onChange, refused } = props
  const check = useMutation({ mutationFn: (plan: string) => api().post('/plans/check', { body: plan }) })
  const problems = problemsIn(check.error) ?? refused
  return (
    <div className="flex w-full flex-col items-start gap-2">
      <Field hint="YAML or JSON. A task has a tempId, a title, and what it depends on." label="Plan">
        <TextInput
          className="w-full font-mono text-row"
          onChange={(event) => {
            onChange(event.target.value)
            check.reset()
          }}
          rows={12}
          spellCheck={false}
          value={value}
        />
      </Field>
      <Button busy={check.isPending} onClick={() => check.mutate(value)} size="small">
        Check the plan
      </Button>
      <div aria-live="polite" className="w-full">
        {check.data && (
          <p className="text-row text-done">
            {countText(check.data.taskCount)} {check.data.taskCount === 1 ? 'task' : 'tasks'} in{' '}
            {check.data.layers.length} {check.data.layers.length === 1 ? 'step' : 'steps'},{' '}
            {estimateWords(check.data.estimate)}.
          </p>
        )}
        {problems && problems.length > 0 && (
          <ul className="flex flex-col gap-1 rounded-card bg-bad-tint p-3 text-row text-bad">
            {problems.map(({ line, message }) => (
              <li className="break-words" key={`${line} ${message}`}>
                {line !== null && <span className="font-medium">Line {line}: </span>}
                {message}
              </li>
            ))}
          </ul>
        )}
        {check.error && problemsIn(check.error) === null && <ProblemBox error={check.error} />}
      </div>
    </div>
  )
}
