import { PageLink } from '../links.tsx'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import { Kbd } from '../parts/kbd.tsx'
import { BatonBar, Wordmark } from '../parts/wordmark.tsx'
import { LivePill } from './live-pill.tsx'
import { ThemeSwitch } from './theme-switch.tsx'
import { WorkspaceSwitcher } from './workspace-switcher.tsx'

export function TopBar({ onPalette, onHelp }: { onPalette: () => void; onHelp: () => void }) {
  return (
    <header className="flex h-12 shrink-0 items-center gap-2 border-b border-line bg-bg px-3 max-sm:px-2">
      <div className="flex flex-1 shrink-0 items-center gap-1 max-sm:min-w-0 max-sm:shrink">
        <PageLink aria-label="Baton, first page" className="shrink-0 rounded-card px-2 py-1" to="/">
          <span className="max-sm:hidden">
            <Wordmark />
          </span>
          <span className="sm:hidden">
            <BatonBar />
          </span>
        </PageLink>
        <span aria-hidden="true" className="text-faint max-sm:hidden">
          /
        </span>
        <WorkspaceSwitcher />
      </div>
      <button
        className="flex h-8 w-104 min-w-40 shrink items-center gap-2 rounded-card border border-line bg-sunken px-2.5 text-row text-muted transition-colors hover:border-edge hover:text-ink max-sm:hidden"
        onClick={onPalette}
        type="button"
      >
        <Icon name="search" size={14} />
        <span className="flex-1 truncate text-left">Find or do anything</span>
        <Kbd keys="Mod+k" />
      </button>
      <div className="flex flex-1 items-center justify-end gap-1">
        <LivePill />
        <IconButton className="sm:hidden" icon="search" label="Find or do anything" onClick={onPalette} />
        <ThemeSwitch />
        <IconButton
          className="max-sm:hidden"
          icon="help"
          label="Keyboard shortcuts"
          onClick={onHelp}
          shortcut="?"
        />
      </div>
    </header>
  )
}
