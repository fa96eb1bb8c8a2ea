import { Popover as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'

/** A small panel on a button, for a filter or a detail. */
export function Popover(props: {
  trigger: ReactElement
  /** The popover's name for screen readers. */
  label: string
  align?: 'start' | 'center' | 'end'
  open?: boolean
  onOpenChange?: (open: boolean) => void
  children: ReactNode
}) {
  const { trigger, label, align = 'start', open, onOpenChange, children } = props
  return (
    <Radix.Root {...(open === undefined ? {} : { open })} {...(onOpenChange ? { onOpenChange } : {})}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          aria-label={label}
          className="z-50 max-w-[calc(100vw-1rem)] min-w-56 animate-fade rounded-dialog bg-raised p-3 shadow-float outline-none"
          collisionPadding={8}
          sideOffset={4}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}
