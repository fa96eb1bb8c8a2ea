import { useEffect, useRef, useState } from 'react'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { Menu, type MenuEntry } from '../../parts/menu.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import {
  addressOf,
  isShown,
  LONGEST_NAME,
  renamed,
  type SavedView,
  useSavedViews,
  withDefault,
  without,
  withView,
} from './saved-views.ts'
import type { BoardSearch } from './search.ts'

const ALL = '/board'

/** Boards that were saved with a name, and what can be done with the one that is shown. */
export function ViewsMenu({ search }: { search: BoardSearch }) {
  const go = useGo()
  const [views, keep] = useSavedViews()
  const [naming, setNaming] = useState<SavedView | 'new' | null>(null)
  useDefaultView(views, search)
  const shown = views.find((view) => isShown(view, search))
  const chosen = (view: SavedView): MenuEntry => ({
    words: view.isDefault ? `${view.name} (default)` : view.name,
    isChecked: view === shown,
    run: () => go(view.address),
  })
  const ofShown: MenuEntry[] = shown
    ? [
        { words: 'Rename…', icon: 'edit', run: () => setNaming(shown) },
        shown.isDefault
          ? { words: 'Not the default any more', icon: 'close', run: () => keep(withDefault(views, null)) }
          : { words: 'Make it the default', icon: 'check', run: () => keep(withDefault(views, shown.name)) },
        {
          words: 'Delete view',
          icon: 'trash',
          isDangerous: true,
          run: () => keep(without(views, shown.name)),
        },
      ]
    : [{ words: 'Save this view…', icon: 'plus', run: () => setNaming('new') }]
  const name = (given: string) => {
    keep(
      naming === 'new' || naming === null
        ? withView(views, given, search)
        : renamed(views, naming.name, given),
    )
    setNaming(null)
  }
  return (
    <>
      <Menu
        align="start"
        groups={[
          [
            { words: 'All tasks', isChecked: addressOf(search) === ALL, run: () => go(ALL) },
            ...views.map(chosen),
          ],
          addressOf(search) === ALL && !shown ? [] : ofShown,
        ]}
        title="Saved views"
        trigger={
          <Button icon="eye" kind="quiet" size="small">
            <span className="max-w-32 truncate sm:@max-[900px]:sr-only">{shown?.name ?? 'Views'}</span>
          </Button>
        }
      />
      {naming !== null && (
        <NameView
          given={naming === 'new' ? '' : naming.name}
          onClose={() => setNaming(null)}
          onName={name}
          taken={views.map((view) => view.name)}
        />
      )}
    </>
  )
}

/** The board was opened without anything in its address. Going back to all tasks later stays possible. */
function useDefaultView(views: readonly SavedView[], search: BoardSearch): void {
  const go = useGo()
  const opened = useRef(search)
  useEffect(() => {
    const view = views.find(({ isDefault }) => isDefault)
    if (view && Object.keys(opened.current).length === 0) go(view.address, { replace: true })
    opened.current = { view: 'kanban' }
  }, [go, views])
}

function NameView(props: {
  given: string
  taken: readonly string[]
  onName: (name: string) => void
  onClose: () => void
}) {
  const { given, taken, onName, onClose } = props
  const [typed, setTyped] = useState(given)
  const name = typed.trim()
  const isTaken = name !== given && taken.includes(name)
  const refused = name === '' ? 'A name is needed.' : null
  const submit = () => refused === null && onName(name)
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button disabledReason={refused} kind="primary" onClick={submit}>
            {given === '' ? 'Save view' : 'Rename view'}
          </Button>
        </>
      }
      onClose={onClose}
      open
      title={given === '' ? 'Save this view' : 'Rename this view'}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Field
          hint={
            isTaken
              ? 'There is a view of this name. It is replaced.'
              : 'It is kept in this browser: filters, groups, order and columns.'
          }
          label="Name"
        >
          <TextInput
            autoComplete="off"
            maxLength={LONGEST_NAME}
            onChange={(event) => setTyped(event.target.value)}
            value={typed}
          />
        </Field>
      </form>
    </Dialog>
  )
}
