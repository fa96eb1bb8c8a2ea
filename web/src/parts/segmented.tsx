import { type ReactNode, useId } from 'react'
import { useShownWithin } from './use-shown-within.ts'

/**
 * One of a few, all of them visible: "Kanban | List". Radio buttons underneath, so arrow keys work. A phone scrolls those that do
 * not fit.
 */
export function Segmented<Value extends string>(props: {
  label: string
  value: Value
  onChange: (value: Value) => void
  options: { value: Value; words: ReactNode; title?: string }[]
  size?: 'small' | 'usual'
}) {
  const { label, value, onChange, options, size = 'small' } = props
  const name = useId()
  const row = useShownWithin<HTMLFieldSetElement>('label:has(:checked)', value)
  return (
    <fieldset
      aria-label={label}
      className="inline-flex max-w-full min-w-0 flex-wrap gap-0.5 rounded-card border border-line bg-sunken p-0.5 max-sm:flex-nowrap max-sm:overflow-x-auto max-sm:[scrollbar-width:none]"
      ref={row}
    >
      {options.map((option) => (
        <label
          className={`touchable relative flex shrink-0 cursor-pointer items-center justify-center rounded-chip px-2.5 font-medium whitespace-nowrap text-muted transition-colors hover:text-ink has-checked:bg-raised has-checked:text-ink has-checked:shadow-card has-focus-visible:outline-2 has-focus-visible:-outline-offset-2 has-focus-visible:outline-accent ${size === 'small' ? 'h-6 text-label' : 'h-8 text-row'}`}
          key={option.value}
          title={option.title}
        >
          <input
            checked={option.value === value}
            className="absolute inset-0 cursor-pointer opacity-0"
            name={name}
            onChange={() => onChange(option.value)}
            type="radio"
            value={option.value}
          />
          {option.words}
        </label>
      ))}
    </fieldset>
  )
}
