import { useFieldIds } from './field.tsx'

/** On or off, at once. Inside a Field it is named by it; alone it needs a label. */
export function Switch(props: {
  checked: boolean
  onChange: (checked: boolean) => void
  label?: string
  disabled?: boolean
}) {
  const { checked, onChange, label, disabled } = props
  const { id, 'aria-describedby': describedBy } = useFieldIds()
  return (
    <button
      aria-checked={checked}
      aria-describedby={describedBy}
      aria-label={label}
      className={`relative inline-flex h-6 w-10 shrink-0 items-center rounded-pill border transition-colors disabled:opacity-50 ${checked ? 'border-ink bg-ink' : 'border-edge bg-bg'}`}
      disabled={disabled}
      id={id}
      onClick={() => onChange(!checked)}
      role="switch"
      type="button"
    >
      <span
        className={`size-4 rounded-pill transition-transform ${checked ? 'translate-x-5 bg-bg' : 'translate-x-0.75 bg-edge'}`}
      />
    </button>
  )
}
