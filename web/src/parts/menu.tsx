import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactElement, ReactNode } from 'react'
import type { IconName } from '../theme/icons.ts'
import { Icon } from './icon.tsx'
import { Kbd } from './kbd.tsx'

export interface MenuEntry {
  words: ReactNode
  run: () => void
  icon?: IconName
  shortcut?: string
  isDangerous?: boolean
  isChecked?: boolean
  /** Why it cannot be chosen now; the entry stays and says so. */
  disabledReason?: string | null | undefined
}

const ENTRY =
  'touchable flex min-h-8 items-center gap-2 rounded-chip px-2 py-1 text-row outline-none select-none data-highlighted:bg-hover data-disabled:opacity-50'

/** A menu on a button. Entries come in groups with a line between them. */
export function Menu(props: {
  trigger: ReactElement
  groups: (MenuEntry | false | null | undefined)[][]
  title?: ReactNode
  align?: 'start' | 'center' | 'end'
  open?: boolean
  onOpenChange?: (open: boolean) => void
}) {
  const { trigger, groups, title, align = 'end', open, onOpenChange } = props
  const filled = groups.map((group) => group.filter((one) => !!one)).filter((group) => group.length > 0)
  return (
    <Radix.Root
      modal={false}
      {...(open === undefined ? {} : { open })}
      {...(onOpenChange ? { onOpenChange } : {})}
    >
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          className="z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-44 animate-fade overflow-y-auto rounded-dialog bg-raised p-1 shadow-float"
          collisionPadding={8}
          sideOffset={4}
        >
          {title && <Radix.Label className="px-2 py-1 text-label text-faint">{title}</Radix.Label>}
          {filled.map((group, place) => (
            <Radix.Group
              className="not-first:mt-1 not-first:border-t not-first:border-line not-first:pt-1"
              // biome-ignore lint/suspicious/noArrayIndexKey: groups have no name and keep their order
              key={place}
            >
              {group.map((entry, row) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: entries keep their order while the menu is open
                <Entry entry={entry} key={row} />
              ))}
            </Radix.Group>
          ))}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function Entry({ entry }: { entry: MenuEntry }) {
  const { words, run, icon, shortcut, isDangerous, isChecked, disabledReason } = entry
  return (
    <Radix.Item
      className={`${ENTRY} ${isDangerous ? 'text-bad' : 'text-ink'}`}
      disabled={Boolean(disabledReason)}
      onSelect={run}
      {...(isChecked === undefined ? {} : { role: 'menuitemcheckbox', 'aria-checked': isChecked })}
    >
      {icon && <Icon className="text-muted" name={icon} size={14} />}
      <span className="min-w-0 flex-1">
        <span className="block truncate">{words}</span>
        {disabledReason && <span className="block text-label text-muted">{disabledReason}</span>}
      </span>
      {isChecked && <Icon name="check" size={14} />}
      {shortcut && <Kbd keys={shortcut} />}
    </Radix.Item>
  )
}
