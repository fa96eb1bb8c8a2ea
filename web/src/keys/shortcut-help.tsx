import type { ReactNode } from 'react'
import { Dialog } from '../parts/dialog.tsx'
import { Kbd } from '../parts/kbd.tsx'
import { isSingleKey } from './keystrokes.ts'
import { useBoundShortcuts } from './shortcuts.ts'
import { useSingleKeys } from './single-keys.ts'

/** Where keys belong that act on every page: a reader looks for those of this page first. */
const EVERYWHERE: readonly string[] = ['Go to', 'Everywhere']

/** All keys that act on this page, by where they belong. `more`: where else help is. */
export function ShortcutHelp(props: { open: boolean; onClose: () => void; more?: ReactNode }) {
  const { open, onClose, more } = props
  const layers = useBoundShortcuts()
  const ofThisPageFirst = layers.toSorted(
    (one, other) => EVERYWHERE.indexOf(one.where) - EVERYWHERE.indexOf(other.where),
  )
  const areSingleOn = useSingleKeys()
  const text = areSingleOn
    ? 'Single keys never act inside fields. They can be switched off in Settings.'
    : 'Single keys are switched off in Settings: only those with Ctrl work.'
  return (
    <Dialog actions={more} onClose={onClose} open={open} text={text} title="Keys on this page" width="wide">
      <div className="grid gap-x-8 gap-y-6 sm:grid-cols-2">
        {ofThisPageFirst.map(({ where, shortcuts }) => (
          <section key={where}>
            <h3 className="mb-1 text-label font-semibold text-muted">{where}</h3>
            <dl>
              {Object.entries(shortcuts).map(([keys, { words }]) => (
                <div
                  className={`flex min-h-7 items-center justify-between gap-4 text-row ${!areSingleOn && isSingleKey(keys) ? 'opacity-50' : ''}`}
                  key={keys}
                >
                  <dt>{words}</dt>
                  <dd>
                    <Kbd keys={keys} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
