import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { partsOf, spanOf, UNITS, type Unit } from './spans.ts'

const OPTIONS = UNITS.map(({ unit, words }) => ({ value: unit, words }))

/** A span of time: an amount and its unit, kept as one text. Inside a Field the amount is named by it. */
export function SpanInput(props: {
  value: string
  onChange: (value: string) => void
  /** What the unit is of, for screen readers. */
  label: string
  placeholder?: string | undefined
}) {
  const { value, onChange, label, placeholder } = props
  const { amount, unit } = partsOf(value)
  return (
    <span className="flex max-w-80 gap-2">
      <TextInput
        autoComplete="off"
        inputMode="decimal"
        onChange={(event) => onChange(spanOf({ amount: event.target.value, unit }))}
        placeholder={placeholder}
        value={amount}
      />
      <Select<Unit>
        aria-describedby={undefined}
        aria-label={`Unit of ${label}`}
        className="w-32 shrink-0"
        id={undefined}
        onChange={(next) => onChange(spanOf({ amount, unit: next }))}
        options={OPTIONS}
        value={unit}
      />
    </span>
  )
}
