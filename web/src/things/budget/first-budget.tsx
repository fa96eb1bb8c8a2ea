import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { showRefusal } from '../../parts/show-refusal.ts'
import { api } from '../../requests/api.ts'
import { limitProblems, PERIOD_WORDS, PERIODS, type Period } from './budget.ts'
import { LimitFields, type Limits } from './limit-fields.tsx'

/** The budget that an agent or a project begins with. */

export interface FirstBudget {
  limits: Limits
  period: Period
}

export const NO_BUDGET: FirstBudget = { limits: { usd: '', tokens: '' }, period: 'month' }

const isNone = ({ limits: { usd, tokens } }: FirstBudget) => usd === '' && tokens === ''

/** Why it cannot be sent; null: it can, or there is none. */
export const firstBudgetProblem = ({ limits }: FirstBudget): string | null => {
  const { usd, tokens } = limitProblems(limits)
  return usd ?? tokens
}

/** After the thing was made. A refusal is told: the thing stays, without a budget. */
export async function setFirstBudget(
  scope: 'agent' | 'project',
  scopeId: string,
  budget: FirstBudget,
): Promise<void> {
  if (isNone(budget)) return
  const { usd, tokens } = budget.limits
  const limits = { ...(usd !== '' && { maxUsd: usd }), ...(tokens !== '' && { maxTokens: Number(tokens) }) }
  try {
    await api().post('/budgets', { body: { scope, scopeId, period: budget.period, ...limits } })
  } catch (error) {
    showRefusal(error)
  }
}

export function FirstBudgetFields(props: { value: FirstBudget; onChange: (value: FirstBudget) => void }) {
  const { value, onChange } = props
  return (
    <div className="flex flex-col gap-3">
      <LimitFields
        labels={{ usd: 'Budget in dollars', tokens: 'Budget in tokens' }}
        limits={value.limits}
        onChange={(limits) => onChange({ ...value, limits })}
      />
      {!isNone(value) && (
        <Field hint="When it is spent, work stops and keeps its place, and you are asked." label="Period">
          <Select
            onChange={(period) => onChange({ ...value, period })}
            options={PERIODS.map((one) => ({ value: one, words: PERIOD_WORDS[one].choice }))}
            value={value.period}
          />
        </Field>
      )}
    </div>
  )
}
