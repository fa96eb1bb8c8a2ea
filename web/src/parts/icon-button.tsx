import type { ComponentProps } from 'react'
import type { IconName } from '../theme/icons.ts'
import { Icon } from './icon.tsx'
import { Kbd } from './kbd.tsx'
import { Tooltip } from './tooltip.tsx'

interface Props extends Omit<ComponentProps<'button'>, 'disabled' | 'children'> {
  icon: IconName
  /** The button's name, in the tooltip and for screen readers. */
  label: string
  size?: 'small' | 'usual'
  disabledReason?: string | null | undefined
  shortcut?: string
}

export function IconButton(props: Props) {
  const { icon, label, size = 'usual', disabledReason, shortcut, className, onClick, ...rest } = props
  const isRefused = Boolean(disabledReason)
  const text = (
    <>
      {disabledReason ?? label}
      {shortcut && !isRefused && <Kbd keys={shortcut} />}
    </>
  )
  return (
    <Tooltip text={text}>
      <button
        type="button"
        {...rest}
        aria-disabled={isRefused || undefined}
        aria-label={label}
        className={`touchable inline-flex shrink-0 items-center justify-center rounded-card text-muted transition-colors hover:bg-hover hover:text-ink ${size === 'small' ? 'size-7' : 'size-9'} ${isRefused ? 'cursor-not-allowed opacity-50' : ''} ${className ?? ''}`}
        onClick={isRefused ? (event) => event.preventDefault() : onClick}
      >
        <Icon name={icon} size={size === 'small' ? 14 : 16} />
      </button>
    </Tooltip>
  )
}
