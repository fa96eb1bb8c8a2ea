import type { ReactNode } from 'react'
import { Icon } from '../../parts/icon.tsx'

/** One of the first steps: its number until it is done, then a tick. The next one stands out. */
export function Step(props: {
  number: number
  title: string
  isDone: boolean
  isNext?: boolean
  /** Beside the title. */
  aside?: ReactNode
  children?: ReactNode
}) {
  const { number, title, isDone, isNext = false, aside, children } = props
  return (
    <section
      aria-label={title}
      className={`flex gap-4 rounded-dialog border bg-raised p-5 shadow-card max-sm:gap-3 max-sm:p-4 ${isNext ? 'border-accent' : 'border-line'}`}
    >
      <span
        className={`flex size-7 shrink-0 items-center justify-center rounded-pill text-row font-semibold ${isDone ? 'bg-done-tint text-done' : isNext ? 'bg-go-tint text-go' : 'bg-hover text-muted'}`}
      >
        {isDone ? <Icon name="check" size={14} /> : <span aria-hidden="true">{number}</span>}
        <span className="sr-only">{isDone ? `Step ${number}, done` : `Step ${number}`}</span>
      </span>
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        <div className="flex flex-wrap items-center gap-x-3">
          <h2 className="text-title leading-7 font-semibold">{title}</h2>
          {aside}
        </div>
        {children}
      </div>
    </section>
  )
}
