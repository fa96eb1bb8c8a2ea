import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { api } from '../../requests/api.ts'
import { signOut, signOutEverywhere, useSession } from '../../requests/session.ts'
import { useAct } from '../../things/use-act.ts'
import { browserWords } from './key-words.ts'

type Browser = AnswerTo<'GET', '/session/all'>['items'][number]

/** Where people are signed in: with this key, and for admins with all of them. */
export function Browsers() {
  const { can, key: own, workspace } = useSession()
  // Signing in writes no event: the list is as it was when the page was opened, and is read again after an act.
  const read = useSnapshot(['browsers'], ({ signal }) => api().read('/session/all', { signal }))
  const [asked, setAsked] = useState<Browser | 'all' | null>(null)
  const end = useAct(
    ({ id }: Browser) => api().delete('/session/all/:id', { params: { id } }),
    (_, browser) => {
      void read.refetch()
      return `${browserWords(browser.userAgent)} is signed out.`
    },
    { right: 'read' },
  )
  const endHere = useAct(
    () => signOut(workspace.id),
    () => undefined,
    { right: 'read' },
  )
  const endAll = useAct(
    () => signOutEverywhere(workspace.id),
    () => undefined,
    { right: 'read' },
  )
  const confirmed = () => {
    if (asked === 'all') endAll.run()
    else if (asked?.isCurrent) endHere.run()
    else if (asked) end.run(asked)
  }
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-row text-muted">
          {can('admin')
            ? 'The browsers of everybody in this workspace, the latest used first.'
            : `The browsers that are signed in with your key ${own.name}, the latest used first.`}
        </p>
        <Button icon="sign-out" onClick={() => setAsked('all')}>
          Sign out everywhere
        </Button>
      </div>
      <Loaded read={read} rowHeight={56} rows={3}>
        {({ items }) => (
          <ul aria-label="Signed-in browsers" className="rounded-card border border-line bg-raised">
            {items.map((browser) => (
              <BrowserRow browser={browser} key={browser.id} onEnd={() => setAsked(browser)} />
            ))}
            {items.length === 0 && <li className="p-4 text-row text-muted">No browser is signed in.</li>}
          </ul>
        )}
      </Loaded>
      {asked && (
        <ConfirmDialog
          confirm={asked === 'all' ? 'Sign out everywhere' : 'Sign out'}
          isDangerous
          onClose={() => setAsked(null)}
          onConfirm={confirmed}
          open
          text={whatEnds(asked, own.name)}
          title={asked === 'all' ? 'Sign out of all browsers?' : `Sign out ${browserWords(asked.userAgent)}?`}
        />
      )}
    </div>
  )
}

function whatEnds(asked: Browser | 'all', own: string): string {
  if (asked === 'all')
    return `All browsers that are signed in with the key ${own} are signed out, this one too, and links that were not used yet end. The key stays valid.`
  if (asked.isCurrent) return 'This is the browser that you use now. A new link, or a key, signs in again.'
  return 'Its pages close at once. A new link, or a key, signs in again.'
}

function BrowserRow({ browser, onEnd }: { browser: Browser; onEnd: () => void }) {
  const { userAgent, key, isCurrent, createdAt, lastSeenAt, expiresAt } = browser
  const words = browserWords(userAgent)
  return (
    <li className="flex items-start gap-3 px-4 py-2.5 not-first:border-t not-first:border-line">
      <Icon className="mt-1 text-muted" name="monitor" />
      <div className="flex min-w-0 flex-1 flex-col gap-0.5">
        <p className="flex min-w-0 flex-wrap items-center gap-2 text-body">
          <span className="min-w-0 font-medium break-words" title={userAgent ?? undefined}>
            {words}
          </span>
          {isCurrent && <Chip hue="go">this browser</Chip>}
        </p>
        <p className="text-row break-words text-muted">Signed in with the key {key.name}</p>
        <p className="flex flex-wrap gap-x-3 text-label text-muted">
          <span>
            last used <Moment at={lastSeenAt} />
          </span>
          <span>
            since <Moment at={createdAt} />
          </span>
          <span>
            ends <Moment at={expiresAt} />
          </span>
        </p>
      </div>
      <Button
        aria-label={`Sign out ${words}${isCurrent ? ', this browser' : ''}`}
        onClick={onEnd}
        size="small"
      >
        Sign out
      </Button>
    </li>
  )
}
