import { Command } from 'cmdk'
import type { ReactNode } from 'react'

/** The looks of the palette: groups, entries and notes. */

const GROUP =
  '**:[[cmdk-group-heading]]:px-3 **:[[cmdk-group-heading]]:pt-2 **:[[cmdk-group-heading]]:pb-1 **:[[cmdk-group-heading]]:text-label **:[[cmdk-group-heading]]:font-medium **:[[cmdk-group-heading]]:text-faint'
const ITEM =
  'touchable mx-1 flex min-h-9 cursor-pointer items-center gap-2 rounded-card px-2 py-1 text-body data-[selected=true]:bg-hover aria-disabled:cursor-not-allowed aria-disabled:opacity-50'

export const Group = ({ heading, children }: { heading: string; children: ReactNode }) => (
  <Command.Group className={GROUP} heading={heading}>
    {children}
  </Command.Group>
)

/** `whyNot`: it is there, does nothing, and says why. */
export function Item(props: {
  value: string
  onSelect: () => void
  whyNot?: string | null
  children: ReactNode
}) {
  const { value, onSelect, whyNot = null, children } = props
  return (
    <Command.Item
      aria-disabled={whyNot !== null || undefined}
      className={ITEM}
      onSelect={() => whyNot === null && onSelect()}
      value={value}
    >
      {children}
      {whyNot !== null && <span className="text-label text-muted">{whyNot}</span>}
    </Command.Item>
  )
}

export const Note = ({ children }: { children: ReactNode }) => (
  <p className="px-4 py-2 text-row text-muted">{children}</p>
)
