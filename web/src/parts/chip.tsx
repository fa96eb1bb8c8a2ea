import type { ReactNode } from 'react'
import { HUE_TINT } from '../theme/hues.ts'
import type { Hue } from '../theme/marks.ts'
import { Icon } from './icon.tsx'

/** A small fact, or with `onRemove` a filter that is set: "project: shop ×". */
export function Chip(props: {
  children: ReactNode
  hue?: Hue
  onRemove?: () => void
  removeLabel?: string
  title?: string
}) {
  const { children, hue, onRemove, removeLabel = 'Remove filter', title } = props
  return (
    <span
      className={`inline-flex max-w-full min-w-0 items-center rounded-chip text-label font-medium whitespace-nowrap ${onRemove ? 'h-7' : 'h-5'} ${hue ? HUE_TINT[hue] : onRemove ? 'border border-line bg-raised text-ink' : 'bg-hover text-muted'}`}
      title={title}
    >
      <span className={`truncate ${onRemove ? 'pl-2' : 'px-1.5'}`}>{children}</span>
      {onRemove && (
        <button
          aria-label={removeLabel}
          className="focus-inside inline-flex h-full min-w-7 items-center justify-center rounded-chip text-muted hover:bg-hover hover:text-ink"
          onClick={onRemove}
          type="button"
        >
          <Icon name="close" size={12} />
        </button>
      )}
    </span>
  )
}
