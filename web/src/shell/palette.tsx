import { Command } from 'cmdk'
import { Dialog as Radix } from 'radix-ui'
import { useState } from 'react'
import { useBoundShortcuts } from '../keys/shortcuts.ts'
import { useGo } from '../links.tsx'
import { Icon } from '../parts/icon.tsx'
import { Kbd } from '../parts/kbd.tsx'
import { useReturnFocus } from '../parts/return-focus.ts'
import { useSession } from '../requests/session.ts'
import { chooseTheme, THEME_WORDS, THEMES } from '../theme/theme-choice.ts'
import { type NavigationEntry, useNavigation } from './navigation.ts'
import { Found } from './palette-found.tsx'
import { Group, Item } from './palette-item.tsx'
import { fits } from './palette-words.ts'

/** Find or do anything: what is on the server, the pages, and all that keys can do here. */
export function Palette({ onClose, onRetryFailed }: { onClose: () => void; onRetryFailed: () => void }) {
  const [typed, setTyped] = useState('')
  const go = useGo()
  const returnFocus = useReturnFocus(true)
  const leaveTo = (to: string) => {
    onClose()
    go(to)
  }
  return (
    <Radix.Root onOpenChange={(isOpen) => !isOpen && onClose()} open>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 animate-fade bg-scrim" />
        <Radix.Content
          aria-describedby={undefined}
          onCloseAutoFocus={returnFocus}
          className="fixed top-[12vh] left-1/2 z-40 w-[calc(100vw-2rem)] max-w-152 -translate-x-1/2 overflow-hidden rounded-dialog bg-raised shadow-float outline-none max-sm:top-2 max-sm:w-[calc(100vw-1rem)]"
        >
          <Radix.Title className="sr-only">Find or do anything</Radix.Title>
          <Command label="Find or do anything" loop shouldFilter={false}>
            <div className="flex items-center gap-2 border-b border-line px-4">
              <Icon className="text-muted" name="search" />
              <Command.Input
                autoFocus
                className="h-12 min-w-0 flex-1 bg-transparent text-title outline-none"
                onValueChange={setTyped}
                placeholder="A title, a number, an error, a page, an action"
                value={typed}
              />
              <Kbd keys="Esc" />
            </div>
            <Command.List className="max-h-[min(26rem,60vh)] overflow-y-auto py-1">
              <Found onClose={onClose} onOpen={leaveTo} typed={typed.trim()} />
              <Places onOpen={leaveTo} typed={typed} />
              <Acts onClose={onClose} onRetryFailed={onRetryFailed} typed={typed} />
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

function Places({ typed, onOpen }: { typed: string; onOpen: (to: string) => void }) {
  const places = useNavigation().filter(({ words }) => fits(words, typed))
  if (places.length === 0) return null
  return (
    <Group heading="Pages">
      {places.map(({ to, words, icon, key }: NavigationEntry) => (
        <Item key={to} onSelect={() => onOpen(to)} value={`page ${to}`}>
          <Icon className="text-muted" name={icon} />
          <span className="flex-1">{words}</span>
          {key && <Kbd keys={`g ${key}`} />}
        </Item>
      ))}
    </Group>
  )
}

interface PaletteAct {
  id: string
  words: string
  run: () => void
  keys?: string
  whyNot?: string | null
}

function Acts(props: { typed: string; onClose: () => void; onRetryFailed: () => void }) {
  const { typed, onClose, onRetryFailed } = props
  const { whyNot } = useSession()
  const bound: PaletteAct[] = useBoundShortcuts()
    .filter(({ where }) => where !== 'Go to')
    .flatMap(({ where, shortcuts }) =>
      Object.entries(shortcuts)
        .filter(([keys, { isOff, repeats }]) => !isOff && !repeats && keys !== 'Mod+k')
        .map(([keys, { words, run }]) => ({
          id: `${where} ${keys}`,
          keys,
          words,
          run: () => run(new KeyboardEvent('keydown')),
        })),
    )
  const others: PaletteAct[] = [
    { id: 'retry failed', words: 'Retry all failed tasks', run: onRetryFailed, whyNot: whyNot('operate') },
    ...THEMES.map((theme) => ({
      id: `theme ${theme}`,
      words: `Theme: ${THEME_WORDS[theme].words.toLowerCase()}`,
      run: () => chooseTheme(theme),
    })),
  ]
  const acts = [...bound, ...others].filter(({ words }) => fits(words, typed))
  if (acts.length === 0) return null
  return (
    <Group heading="Do">
      {acts.map(({ id, keys, words, run, whyNot: refusal = null }) => (
        <Item
          key={id}
          onSelect={() => {
            onClose()
            run()
          }}
          value={`act ${id}`}
          whyNot={refusal}
        >
          <Icon className="text-muted" name="arrow-right" />
          <span className="flex-1">{words}</span>
          {keys && <Kbd keys={keys} />}
        </Item>
      ))}
    </Group>
  )
}
