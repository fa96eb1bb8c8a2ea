import type { ReactNode } from 'react'
import type { DrawingName } from '../theme/drawings.ts'
import { Copyable } from './copyable.tsx'
import { Drawing } from './drawing.tsx'

/** Nothing here yet: what this is, one sentence, one button, one command to copy. */
export function Empty(props: {
  drawing: DrawingName
  title: string
  text?: ReactNode
  action?: ReactNode
  command?: string
}) {
  const { drawing, title, text, action, command } = props
  return (
    <div className="mx-auto flex max-w-prose flex-col items-center px-4 py-12 text-center">
      <Drawing name={drawing} />
      <h2 className="mt-4 text-title font-semibold">{title}</h2>
      {text && <p className="mt-1 text-body text-muted">{text}</p>}
      {action && <div className="mt-4 flex flex-wrap justify-center gap-2">{action}</div>}
      {command && (
        <div className="mt-6 w-full max-w-120">
          <Copyable isBlock text={command} />
        </div>
      )}
    </div>
  )
}
