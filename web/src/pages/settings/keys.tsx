import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useGo } from '../../links.tsx'
import { about } from '../../live/about.ts'
import { useNow } from '../../live/hooks.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { Button } from '../../parts/button.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { countText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { useSession } from '../../requests/session.ts'
import { useAct } from '../../things/use-act.ts'
import { KeyRow } from './key-row.tsx'
import { type Key, statusOf } from './key-words.ts'
import { NewKey } from './new-key.tsx'

/** The keys of the workspace: who has one, what it may do, until when. */
export function Keys() {
  const { can, whyNot, key: own } = useSession()
  const { ended: showsEnded = false } = useSearch({ from: '/settings/$section' })
  const go = useGo()
  const now = useNow(30_000)
  const [isMaking, setIsMaking] = useState(false)
  const [asked, setAsked] = useState<Key | null>(null)
  const read = useSnapshot(['keys'], ({ signal }) => api().read('/keys', { signal }), {
    follows: about.keys,
    enabled: can('admin'),
  })
  const revoke = useAct(
    (key: Key) => api().delete('/keys/:id', { params: { id: key.id } }),
    (_, { name }) => `The key ${name} is revoked.`,
    { right: 'admin' },
  )
  const isValid = (key: Key) => statusOf(key, now) === 'valid'
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <p className="min-w-0 flex-1 basis-60 text-row text-muted">
          Only the beginning of a key is kept. Whoever has the key acts with its rights until it is revoked or
          expires.
        </p>
        <Button disabledReason={whyNot('admin')} icon="plus" kind="primary" onClick={() => setIsMaking(true)}>
          New key
        </Button>
      </div>
      {can('admin') ? (
        <Loaded read={read} rowHeight={64} rows={4}>
          {({ items }) => {
            const ended = items.filter((key) => !isValid(key))
            const shown = [...items.filter(isValid), ...(showsEnded ? ended : [])]
            return (
              <>
                <ul aria-label="Keys" className="rounded-card border border-line bg-raised">
                  {shown.map((key) => (
                    <KeyRow
                      isOwn={key.id === own.id}
                      key={key.id}
                      made={items.find(({ id }) => id === key.createdBy)?.name ?? null}
                      of={key}
                      onRevoke={() => setAsked(key)}
                      status={statusOf(key, now)}
                    />
                  ))}
                </ul>
                {ended.length > 0 && (
                  <Button
                    className="self-start"
                    kind="quiet"
                    onClick={() => go(`/settings/keys${showsEnded ? '' : '?ended=1'}`, { replace: true })}
                    size="small"
                  >
                    {showsEnded ? 'Hide' : 'Show'} {countText(ended.length)} that{' '}
                    {ended.length === 1 ? 'has' : 'have'} ended
                  </Button>
                )}
              </>
            )
          }}
        </Loaded>
      ) : (
        <p className="rounded-card border border-line bg-raised p-4 text-row text-muted">
          Only admins see who has a key. {whyNot('admin')}
        </p>
      )}
      {isMaking && <NewKey onClose={() => setIsMaking(false)} />}
      {asked && (
        <ConfirmDialog
          confirm="Revoke key"
          isDangerous
          name={asked.name}
          onClose={() => setAsked(null)}
          onConfirm={() => revoke.run(asked)}
          open
          text={whatEnds(asked, asked.id === own.id)}
          title={`Revoke the key ${asked.name}?`}
        />
      )}
    </div>
  )
}

function whatEnds({ role }: Key, isOwn: boolean): string {
  const parts = [
    'Programs that use it are refused at once, and browsers that signed in with it are signed out.',
  ]
  // Keys that an owner made outlive it.
  if (role !== 'owner') parts.push('Keys that were made with it end, too.')
  if (isOwn) parts.push('You are signed in with this key.')
  return `${parts.join(' ')} There is no undo.`
}
