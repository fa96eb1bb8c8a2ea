import type { ComponentProps } from 'react'
import { useFieldIds } from './field.tsx'
import { Icon } from './icon.tsx'

/** The browser's own select: every phone and screen reader knows it. */
export function Select<Value extends string>(
  props: Omit<ComponentProps<'select'>, 'onChange' | 'value' | 'size'> & {
    value: Value
    onChange: (value: Value) => void
    options: { value: Value; words: string }[]
    size?: 'small' | 'usual'
  },
) {
  const { value, onChange, options, size = 'usual', className = '', ...rest } = props
  const ids = useFieldIds()
  return (
    <span className={`relative inline-flex min-w-0 ${className}`}>
      <select
        {...ids}
        {...rest}
        className={`touchable w-full min-w-0 appearance-none truncate rounded-card border border-edge bg-bg pr-8 pl-3 text-ink hover:border-muted ${size === 'small' ? 'h-7 text-row' : 'h-9 text-body'}`}
        onChange={(event) => onChange(event.target.value as Value)}
        value={value}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.words}
          </option>
        ))}
      </select>
      <Icon
        className="pointer-events-none absolute top-1/2 right-2.5 -translate-y-1/2 text-muted"
        name="chevron-down"
        size={14}
      />
    </span>
  )
}
