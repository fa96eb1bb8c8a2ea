import { useState } from 'react'
import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import { madeHook } from './edit-hook.tsx'
import type { Shown } from './secret-shown.tsx'
import { TryHook } from './try-hook.tsx'
import { useReceived } from './use-webhooks.ts'
import {
  curlOf,
  doesWords,
  type Edited,
  type Hook,
  LOOK_OF_VERDICT,
  lookOfHook,
  pageOfMade,
  type Received,
  SCHEME_WORDS,
} from './words.ts'

/** A hook: where it is called, what it does, a try with a payload, and what has come. */
export function HookPanel(props: {
  hook: Hook
  onEdit: (edited: Edited) => void
  onSecret: (shown: Shown) => void
  onClose: () => void
}) {
  const { hook, onEdit, onSecret, onClose } = props
  const look = lookOfHook(hook)
  const address = `${location.origin}${hook.path}`
  return (
    <SidePanel onClose={onClose} title={hook.name}>
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-2 text-row">
          <p className="flex flex-wrap items-center gap-2">
            <Chip hue={look.hue}>{look.words}</Chip>
            <Chip>{SCHEME_WORDS[hook.scheme].words}</Chip>
            <span className="min-w-0 wrap-anywhere">{doesWords(hook)}</span>
          </p>
          <Which hook={hook} />
        </div>
        <Acts
          hook={hook}
          onEdit={() => onEdit({ kind: 'hook', hook })}
          onGone={onClose}
          onSecret={onSecret}
        />
        <section aria-label="Address" className="flex flex-col gap-2">
          <h3 className="text-row font-medium">Address</h3>
          {hook.scheme === 'secret_url' ? (
            <p className="font-mono text-row wrap-anywhere">{address}?token=…</p>
          ) : (
            <Copyable isBlock text={address} />
          )}
          <p className="text-row text-muted">
            {SCHEME_WORDS[hook.scheme].text} The secret was shown when the hook was made; a new one can be
            made.
          </p>
          <details>
            <summary className="touchable cursor-pointer text-row text-accent">Call it with curl</summary>
            <div className="mt-2">
              <Copyable isBlock text={curlLine(hook)} />
            </div>
          </details>
        </section>
        <TryHook hook={hook} />
        <Deliveries hook={hook} />
      </div>
    </SidePanel>
  )
}

const curlLine = (hook: Hook) =>
  curlOf(
    location.origin,
    hook.scheme === 'secret_url' ? { ...hook, path: `${hook.path}?token=SECRET` } : hook,
    'SECRET',
  )

function Which({ hook: { events, conditions, perMinute, previousSecretUntil } }: { hook: Hook }) {
  return (
    <ul className="flex flex-col gap-0.5 wrap-anywhere text-muted">
      {events.length > 0 && <li>Only {events.join(', ')}</li>}
      {conditions.map(({ at, is }) => (
        <li key={at}>
          Only if <span className="font-mono">{at}</span> is {is.join(' or ')}
        </li>
      ))}
      <li>At most {perMinute} in a minute</li>
      {previousSecretUntil !== null && (
        <li>
          The secret before is valid until <Moment at={previousSecretUntil} />
        </li>
      )}
    </ul>
  )
}

function Acts(props: {
  hook: Hook
  onEdit: () => void
  onSecret: (shown: Shown) => void
  onGone: () => void
}) {
  const { hook, onEdit, onSecret, onGone } = props
  const { id, name, enabled } = hook
  const [asked, setAsked] = useState<'rotate' | 'remove' | null>(null)
  const right = { right: 'admin' } as const
  const pause = useAct(
    () => api().patch('/hooks/:id', { params: { id }, body: { enabled: !enabled } }),
    enabled ? `${name} is paused.` : `${name} takes deliveries again.`,
    right,
  )
  const rotate = useAct(
    () => api().post('/hooks/:id/rotate', { params: { id } }),
    (answer) => {
      onSecret(madeHook(answer, answer.secret ?? ''))
      return undefined
    },
    right,
  )
  const remove = useAct(
    () => api().delete('/hooks/:id', { params: { id } }),
    () => {
      onGone()
      return `${name} was removed.`
    },
    right,
  )
  const common = { disabledReason: pause.whyNot, size: 'small' } as const
  return (
    <div className="flex flex-wrap gap-2">
      <Button {...common} busy={pause.isBusy} icon={enabled ? 'pause' : 'play'} onClick={() => pause.run()}>
        {enabled ? 'Pause' : 'Resume'}
      </Button>
      <Button {...common} onClick={onEdit}>
        Change
      </Button>
      <Button {...common} icon="key" onClick={() => setAsked('rotate')}>
        New secret
      </Button>
      <Button {...common} icon="trash" onClick={() => setAsked('remove')}>
        Remove
      </Button>
      <ConfirmDialog
        confirm="Make a new secret"
        onClose={() => setAsked(null)}
        onConfirm={() => rotate.run()}
        open={asked === 'rotate'}
        text="The secret before stays valid for a day, so that its sender can change over."
        title={`Give ${name} a new secret?`}
      />
      <ConfirmDialog
        confirm="Remove hook"
        isDangerous
        onClose={() => setAsked(null)}
        onConfirm={() => remove.run()}
        open={asked === 'remove'}
        text="Deliveries to it are refused at once. What it made stays. There is no undo."
        title={`Remove ${name}?`}
      />
    </div>
  )
}

function Deliveries({ hook }: { hook: Hook }) {
  const received = useReceived(hook.id)
  return (
    <section aria-label="Deliveries" className="flex flex-col gap-2">
      <h3 className="text-row font-medium">Deliveries of the last days</h3>
      <Loaded
        empty={<p className="text-row text-muted">Nothing has come yet.</p>}
        read={received}
        rowHeight={44}
        rows={5}
      >
        {() => (
          <ul className="rounded-card border border-line bg-raised">
            {received.items.map((one) => (
              <ReceivedRow key={one.id} of={one} />
            ))}
          </ul>
        )}
      </Loaded>
      {received.data && received.data.nextCursor !== null && (
        <Button className="self-start" onClick={received.loadMore} size="small">
          Show older
        </Button>
      )}
    </section>
  )
}

function ReceivedRow({ of }: { of: Received }) {
  const look = LOOK_OF_VERDICT[of.verdict]
  const made = pageOfMade(of)
  return (
    <li className="flex flex-col gap-0.5 px-3 py-2 text-row not-first:border-t not-first:border-line">
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Chip hue={look.hue}>{look.words}</Chip>
        <span className="min-w-0 flex-1 font-mono wrap-anywhere">{of.event ?? ''}</span>
        {made?.to && (
          <PageLink className="touchable text-accent hover:underline" to={made.to}>
            the {made.words}
          </PageLink>
        )}
        <span className="text-muted">
          <Moment at={of.receivedAt} />
        </span>
      </p>
      {of.reason !== null && <p className="wrap-anywhere text-muted">{of.reason}</p>}
      <p className="flex flex-wrap gap-x-3 text-label wrap-anywhere text-muted">
        {of.address !== null && <span>from {of.address}</span>}
        {of.sentAs !== null && <span className="font-mono">{of.sentAs}</span>}
        {of.repeats > 0 && (
          <span>{of.repeats === 1 ? 'came once more' : `came ${of.repeats} times more`}</span>
        )}
      </p>
    </li>
  )
}
