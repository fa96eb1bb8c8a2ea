import type { ReactNode } from 'react'
import { HUE_TINT } from '../theme/hues.ts'
import { type AnyState, STATE_LOOKS } from '../theme/marks.ts'
import { StateMark } from './state-mark.tsx'

/** A state as mark and word on its tint. `children` replaces the word, as in "Retry in 34 s". */
export function StateChip(props: {
  state: AnyState
  percent?: number | null
  isPending?: boolean
  children?: ReactNode
}) {
  const { state, percent, isPending, children } = props
  const { word, hue } = STATE_LOOKS[state]
  return (
    <span
      className={`inline-flex h-5 max-w-full items-center gap-1 rounded-chip px-1.5 text-label font-medium whitespace-nowrap ${HUE_TINT[hue]}`}
    >
      <StateMark isPending={isPending} percent={percent} size={12} state={state} />
      <span className="truncate">{children ?? word}</span>
    </span>
  )
}
