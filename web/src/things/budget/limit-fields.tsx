import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { limitProblems } from './budget.ts'

export interface Limits {
  usd: string
  tokens: string
}

/** The two limits of a budget, side by side. */
export function LimitFields(props: {
  limits: Limits
  onChange: (limits: Limits) => void
  /** Words of their own, where something is known already. */
  labels?: { usd: string; tokens: string }
  hints?: { usd?: string | undefined; tokens?: string | undefined }
  refused?: { usd?: string | null; tokens?: string | null }
  only?: readonly (keyof Limits)[]
}) {
  const { limits, onChange, labels, hints, refused, only = ['usd', 'tokens'] } = props
  const problems = limitProblems(limits)
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-3">
      {only.includes('usd') && (
        <Field
          hint={hints?.usd}
          label={labels?.usd ?? 'Limit in dollars'}
          problem={problems.usd ?? refused?.usd}
        >
          <TextInput
            autoComplete="off"
            inputMode="decimal"
            onChange={(event) => onChange({ ...limits, usd: event.target.value.trim().replace(/^\$/, '') })}
            placeholder="none"
            value={limits.usd}
          />
        </Field>
      )}
      {only.includes('tokens') && (
        <Field
          hint={hints?.tokens}
          label={labels?.tokens ?? 'Limit in tokens'}
          problem={problems.tokens ?? refused?.tokens}
        >
          <TextInput
            autoComplete="off"
            inputMode="numeric"
            onChange={(event) => onChange({ ...limits, tokens: event.target.value.replaceAll(/[\s,]/g, '') })}
            placeholder="none"
            value={limits.tokens}
          />
        </Field>
      )}
    </div>
  )
}
