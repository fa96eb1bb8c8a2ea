import type { ComponentProps } from 'react'
import { useFieldIds } from './field.tsx'

const INPUT =
  'w-full min-w-0 rounded-card border border-edge bg-bg px-3 text-body text-ink hover:border-muted aria-invalid:border-bad read-only:bg-sunken disabled:bg-sunken disabled:text-faint'

/** One line, or with `rows` several. Inside a Field it is named by it. */
export function TextInput(
  props: ({ rows?: undefined } & ComponentProps<'input'>) | ({ rows: number } & ComponentProps<'textarea'>),
) {
  const ids = useFieldIds()
  if (props.rows !== undefined) {
    const { className = '', ...rest } = props
    return <textarea {...ids} {...rest} className={`${INPUT} py-2 ${className}`} />
  }
  const { className = '', rows: _, ...rest } = props
  return <input type="text" {...ids} {...rest} className={`${INPUT} h-9 max-sm:h-11 ${className}`} />
}
