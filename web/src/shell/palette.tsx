import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Command } from 'cmdk'
import { Dialog as Radix } from 'radix-ui'
import { type ReactNode, useDeferredValue, useState } from 'react'
import { useBoundShortcuts } from '../keys/shortcuts.ts'
import { useGo } from '../links.tsx'
import { explain } from '../parts/explain.ts'
import { Icon } from '../parts/icon.tsx'
import { Kbd } from '../parts/kbd.tsx'
import { StateMark } from '../parts/state-mark.tsx'
import { searchQuery } from '../requests/search.ts'
import { type AnyState, STATE_LOOKS } from '../theme/marks.ts'
import { type NavigationEntry, useNavigation } from './navigation.ts'

const GROUP =
  '**:[[cmdk-group-heading]]:px-3 **:[[cmdk-group-heading]]:pt-2 **:[[cmdk-group-heading]]:pb-1 **:[[cmdk-group-heading]]:text-label **:[[cmdk-group-heading]]:font-medium **:[[cmdk-group-heading]]:text-faint'
const ITEM =
  'touchable mx-1 flex min-h-9 cursor-pointer items-center gap-2 rounded-card px-2 text-body data-[selected=true]:bg-hover'

/** Find or do anything: what is on the server, the pages, and all that keys can do here. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const go = useGo()
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
                placeholder="A title, a key, a number, a page, an action"
                value={typed}
              />
              <Kbd keys="Esc" />
            </div>
            <Command.List className="max-h-[min(26rem,60vh)] overflow-y-auto py-1">
              <Found onOpen={leaveTo} typed={typed.trim()} />
              <Places onOpen={leaveTo} typed={typed} />
              <Acts onClose={onClose} typed={typed} />
            </Command.List>
          </Command>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

/** Every word that was typed begins a word of it, or is inside it. */
const fits = (words: string, typed: string) => {
  const text = words.toLowerCase()
  return typed
    .toLowerCase()
    .split(/\s+/)
    .every((part) => text.includes(part))
}

const PAGE_OF = { task: '/tasks/', mission: '/missions/', agent: '/agents/', run: '/runs/' }

function Found({ typed, onOpen }: { typed: string; onOpen: (to: string) => void }) {
  const wanted = useDeferredValue(typed)
  const { data, error } = useQuery({
    ...searchQuery(wanted),
    enabled: wanted !== '',
    placeholderData: keepPreviousData,
  })
  if (typed === '') return null
  if (error) return <Note>{explain(error).title}</Note>
  if (!data) return null
  if (data.items.length === 0) return <Note>Nothing in this workspace is called “{wanted}”.</Note>
  return (
    <Command.Group className={GROUP} heading="In this workspace">
      {data.items.map(({ kind, id, key, title, state }) => (
        <Command.Item
          className={ITEM}
          key={`${kind} ${id}`}
          onSelect={() => onOpen(PAGE_OF[kind] + encodeURIComponent(kind === 'task' ? (key ?? id) : id))}
          value={`${kind} ${id}`}
        >
          {state in STATE_LOOKS && <StateMark state={state as AnyState} />}
          {key && <span className="shrink-0 font-mono text-row text-muted">{key}</span>}
          <span className="min-w-0 flex-1 truncate">{title}</span>
          <span className="text-label text-faint">{kind}</span>
        </Command.Item>
      ))}
      {data.isBounded && <Note>Only the newest tasks were searched.</Note>}
    </Command.Group>
  )
}

const Note = ({ children }: { children: ReactNode }) => (
  <p className="px-4 py-2 text-row text-muted">{children}</p>
)

function Places({ typed, onOpen }: { typed: string; onOpen: (to: string) => void }) {
  const places = useNavigation().filter(({ words }) => fits(words, typed))
  if (places.length === 0) return null
  return (
    <Command.Group className={GROUP} heading="Pages">
      {places.map(({ to, words, icon, key }: NavigationEntry) => (
        <Command.Item className={ITEM} key={to} onSelect={() => onOpen(to)} value={`page ${to}`}>
          <Icon className="text-muted" name={icon} />
          <span className="flex-1">{words}</span>
          {key && <Kbd keys={`g ${key}`} />}
        </Command.Item>
      ))}
    </Command.Group>
  )
}

function Acts({ typed, onClose }: { typed: string; onClose: () => void }) {
  const acts = useBoundShortcuts()
    .filter(({ where }) => where !== 'Go to')
    .flatMap(({ where, shortcuts }) =>
      Object.entries(shortcuts).map(([keys, shortcut]) => ({ id: `${where} ${keys}`, keys, ...shortcut })),
    )
    .filter(({ words, isOff, repeats, keys }) => !isOff && !repeats && keys !== 'Mod+k' && fits(words, typed))
  if (acts.length === 0) return null
  return (
    <Command.Group className={GROUP} heading="Do">
      {acts.map(({ id, keys, words, run }) => (
        <Command.Item
          className={ITEM}
          key={id}
          onSelect={() => {
            onClose()
            run(new KeyboardEvent('keydown'))
          }}
          value={`act ${id}`}
        >
          <Icon className="text-muted" name="arrow-right" />
          <span className="flex-1">{words}</span>
          <Kbd keys={keys} />
        </Command.Item>
      ))}
    </Command.Group>
  )
}
