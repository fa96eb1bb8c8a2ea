import type { ComponentProps, ReactNode } from 'react'
import type { IconName } from '../theme/icons.ts'
import { Icon } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import { Tooltip } from './tooltip.tsx'

export type ButtonKind = 'primary' | 'plain' | 'danger' | 'quiet'
type ButtonSize = 'small' | 'usual'

// Primary is ink: a blue button would look like "running".
const KINDS: Record<ButtonKind, string> = {
  primary: 'bg-ink text-bg hover:opacity-90',
  plain: 'border border-edge bg-raised text-ink hover:bg-hover',
  danger: 'bg-bad text-bg hover:opacity-90',
  quiet: 'text-muted hover:bg-hover hover:text-ink',
}
const SIZES: Record<ButtonSize, string> = {
  small: 'h-7 gap-1.5 px-2 text-row',
  usual: 'h-9 gap-2 px-3 text-body',
}
const REFUSED = 'cursor-not-allowed opacity-50'

interface Props extends Omit<ComponentProps<'button'>, 'disabled'> {
  kind?: ButtonKind
  size?: ButtonSize
  icon?: IconName
  /** The act is on its way: the button keeps its place and takes no second click. */
  busy?: boolean
  /** Why it cannot be used now. The button stays reachable and says so. */
  disabledReason?: string | null | undefined
  /** Shown on the button; the key itself is bound with useShortcuts. */
  shortcut?: string
  children?: ReactNode
}

export function Button(props: Props) {
  const {
    kind = 'plain',
    size = 'usual',
    icon,
    busy,
    disabledReason,
    shortcut,
    children,
    className,
    onClick,
    ...rest
  } = props
  const isRefused = Boolean(disabledReason) || Boolean(busy)
  const button = (
    <button
      type="button"
      {...rest}
      aria-busy={busy || undefined}
      aria-disabled={isRefused || undefined}
      className={`touchable inline-flex shrink-0 items-center justify-center rounded-card font-medium whitespace-nowrap transition-[background-color,opacity,color] select-none ${SIZES[size]} ${KINDS[kind]} ${isRefused ? REFUSED : ''} ${className ?? ''}`}
      onClick={isRefused ? (event) => event.preventDefault() : onClick}
    >
      {icon && <Icon name={icon} size={size === 'small' ? 14 : 16} />}
      {children}
      {shortcut && <ShortcutOnButton keys={shortcut} isInk={kind === 'primary' || kind === 'danger'} />}
    </button>
  )
  return disabledReason ? <Tooltip text={disabledReason}>{button}</Tooltip> : button
}

function ShortcutOnButton({ keys, isInk }: { keys: string; isInk: boolean }) {
  return (
    <span aria-hidden="true" className="-mr-1 max-sm:hidden">
      {isInk ? <span className="px-1 text-label opacity-70">{keys}</span> : <Kbd keys={keys} />}
    </span>
  )
}
