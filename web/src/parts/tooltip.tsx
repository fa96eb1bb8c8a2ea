import { Tooltip as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'

/** One for the whole app: the second tooltip in a row opens at once. */
export const TooltipProvider = ({ children }: { children: ReactNode }) => (
  <Radix.Provider delayDuration={400} skipDelayDuration={200}>
    {children}
  </Radix.Provider>
)

export function Tooltip(props: {
  text: ReactNode
  side?: 'top' | 'right' | 'bottom' | 'left'
  children: ReactElement
}) {
  const { text, side = 'top', children } = props
  if (!text) return children
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          className="z-50 flex max-w-80 animate-fade items-center gap-2 rounded-card bg-ink px-2 py-1 text-label text-bg"
          collisionPadding={8}
          side={side}
          sideOffset={6}
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
