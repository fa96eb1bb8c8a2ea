import { Tabs as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { countText } from './wording.ts'

export interface Tab<Name extends string> {
  name: Name
  words: ReactNode
  count?: number | null
}

/** Tabs over one panel. Which one is chosen belongs into the URL, so the page keeps it. */
export function Tabs<Name extends string>(props: {
  label: string
  tabs: Tab<Name>[]
  value: Name
  onChange: (name: Name) => void
  children: ReactNode
  className?: string
}) {
  const { label, tabs, value, onChange, children, className = '' } = props
  return (
    <Radix.Root className={className} onValueChange={(name) => onChange(name as Name)} value={value}>
      <Radix.List aria-label={label} className="flex gap-1 overflow-x-auto border-b border-line">
        {tabs.map(({ name, words, count }) => (
          <Radix.Trigger
            className="touchable focus-inside relative flex h-9 shrink-0 items-center gap-1.5 px-3 text-row font-medium text-muted hover:text-ink data-[state=active]:text-ink data-[state=active]:after:absolute data-[state=active]:after:inset-x-3 data-[state=active]:after:bottom-0 data-[state=active]:after:h-0.5 data-[state=active]:after:bg-ink"
            key={name}
            value={name}
          >
            {words}
            {count != null && <span className="text-label text-faint">{countText(count)}</span>}
          </Radix.Trigger>
        ))}
      </Radix.List>
      <Radix.Content className="focus-inside" value={value}>
        {children}
      </Radix.Content>
    </Radix.Root>
  )
}
