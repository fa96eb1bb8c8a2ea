import { Field } from '../../../parts/field.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { ofPlan, type PlanProblem, saidAt } from './plan-problems.ts'
import { type Json, textIn, withPlanValue } from './plan-value.ts'
import type { PlanDrafting } from './use-plan-draft.ts'

const FIELDS = ['title', 'strategy']

/** What the plan says of itself, above its tasks. */
export function PlanForm(props: {
  plan: Json
  edit: PlanDrafting['edit']
  problems: readonly PlanProblem[]
  isLocked: boolean
}) {
  const { plan, edit, isLocked } = props
  const problems = ofPlan(props.problems)
  const hasProblem = problems.some(({ field }) => field !== null && FIELDS.includes(field))
  const set = (field: string, value: string) => edit((before) => withPlanValue(before, field, value))
  const [title, strategy] = [textIn(plan, 'title'), textIn(plan, 'strategy')]
  return (
    <details className="min-w-0 rounded-card border border-line bg-raised" open={hasProblem || undefined}>
      <summary className="truncate px-3 py-2 text-row font-medium text-muted hover:text-ink">
        Title and strategy
        {title !== '' && <span className="text-ink">: {title}</span>}
      </summary>
      <fieldset
        aria-label="The plan itself"
        className="flex min-w-0 flex-col gap-4 px-3 pt-1 pb-4"
        disabled={isLocked}
      >
        <Field label="Title of the plan" problem={saidAt(problems, 'title')}>
          <TextInput
            autoComplete="off"
            onChange={(event) => set('title', event.target.value)}
            value={title}
          />
        </Field>
        <Field
          hint="How the tasks go together, in words. Who approves it reads this first."
          label="Strategy"
          problem={saidAt(problems, 'strategy')}
        >
          <TextInput onChange={(event) => set('strategy', event.target.value)} rows={4} value={strategy} />
        </Field>
      </fieldset>
    </details>
  )
}
