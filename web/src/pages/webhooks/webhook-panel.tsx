import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Moment } from '../../parts/moment.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { countText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import type { Shown } from './secret-shown.tsx'
import { SentRow } from './sent-row.tsx'
import { useSent } from './use-webhooks.ts'
import { type Edited, FORMAT_WORDS, lookOfWebhook, type Webhook, WHY_DISABLED } from './words.ts'

/** A webhook: how it goes, what can be done about it, and what it was told. */
export function WebhookPanel(props: {
  webhook: Webhook
  onEdit: (edited: Edited) => void
  onSecret: (shown: Shown) => void
  onClose: () => void
}) {
  const { webhook, onEdit, onSecret, onClose } = props
  const look = lookOfWebhook(webhook)
  return (
    <SidePanel onClose={onClose} title={webhook.name}>
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-2">
          <p className="flex flex-wrap items-center gap-2 text-row">
            <Chip hue={look.hue}>{look.words}</Chip>
            <span className="text-muted">{FORMAT_WORDS[webhook.format]}</span>
          </p>
          <p className="font-mono text-row wrap-anywhere">{webhook.url}</p>
          <p className="font-mono text-row wrap-anywhere text-muted">{webhook.events.join(', ')}</p>
          <State webhook={webhook} />
        </div>
        <Acts
          onEdit={() => onEdit({ kind: 'webhook', webhook })}
          onGone={onClose}
          onSecret={onSecret}
          webhook={webhook}
        />
        <Deliveries webhook={webhook} />
      </div>
    </SidePanel>
  )
}

function State({ webhook }: { webhook: Webhook }) {
  const { disabledBecause, failingSince, heldUntil, behind, secretHint, formerSecretUntil } = webhook
  return (
    <ul className="flex flex-col gap-0.5 text-row text-muted">
      {disabledBecause !== null && <li className="text-bad">{WHY_DISABLED[disabledBecause]}</li>}
      {failingSince !== null && (
        <li className="text-bad">
          Nothing has arrived since <Moment at={failingSince} />.
        </li>
      )}
      {heldUntil !== null && (
        <li>
          The next attempt is <Moment at={heldUntil} />.
        </li>
      )}
      {behind > 0 && <li>It is {countText(behind)} events behind.</li>}
      <li>
        Its key is <span className="font-mono">{secretHint}</span>
        {formerSecretUntil !== null && (
          <>
            ; the one before it signs as well until <Moment at={formerSecretUntil} />
          </>
        )}
        .
      </li>
    </ul>
  )
}

function Acts(props: {
  webhook: Webhook
  onEdit: () => void
  onSecret: (shown: Shown) => void
  onGone: () => void
}) {
  const { webhook, onEdit, onSecret, onGone } = props
  const { id, name, state, failed } = webhook
  const [asked, setAsked] = useState<'rotate' | 'remove' | null>(null)
  const right = { right: 'admin' } as const
  const params = { id }
  const test = useAct(
    () => api().post('/webhooks/:id/test', { params }),
    ({ isDelivered, httpStatus, error }) =>
      isDelivered
        ? `The receiver answered ${httpStatus}.`
        : {
            kind: 'bad',
            title: 'The test did not arrive.',
            text: error ?? `The receiver answered ${httpStatus}.`,
          },
    right,
  )
  const pause = useAct(
    () => api().post(state === 'active' ? '/webhooks/:id/pause' : '/webhooks/:id/resume', { params }),
    state === 'active' ? `${name} is paused.` : `${name} goes on.`,
    right,
  )
  const again = useAct(
    () => api().post('/webhooks/:id/redeliver', { params }),
    ({ count }) =>
      count === 1 ? 'One delivery is sent again.' : `${countText(count)} deliveries are sent again.`,
    right,
  )
  const rotate = useAct(
    () => api().post('/webhooks/:id/rotate', { params }),
    ({ secret }) => {
      onSecret({ title: `The new key of ${name}`, parts: [{ words: 'Its key', text: secret }] })
      return undefined
    },
    right,
  )
  const remove = useAct(
    () => api().delete('/webhooks/:id', { params }),
    () => {
      onGone()
      return `${name} was removed.`
    },
    right,
  )
  const common = { disabledReason: test.whyNot, size: 'small' } as const
  return (
    <div className="flex flex-wrap gap-2">
      <Button {...common} busy={test.isBusy} icon="send" onClick={() => test.run()}>
        Send a test
      </Button>
      <Button
        {...common}
        busy={pause.isBusy}
        icon={state === 'active' ? 'pause' : 'play'}
        onClick={() => pause.run()}
      >
        {state === 'active' ? 'Pause' : 'Resume'}
      </Button>
      {failed > 0 && (
        <Button {...common} busy={again.isBusy} icon="retry" onClick={() => again.run()}>
          Send {countText(failed)} given up again
        </Button>
      )}
      <Button {...common} onClick={onEdit}>
        Change
      </Button>
      <Button {...common} icon="key" onClick={() => setAsked('rotate')}>
        New key
      </Button>
      <Button {...common} icon="trash" onClick={() => setAsked('remove')}>
        Remove
      </Button>
      <ConfirmDialog
        confirm="Make a new key"
        onClose={() => setAsked(null)}
        onConfirm={() => rotate.run()}
        open={asked === 'rotate'}
        text="The key before it signs as well for a day, so that the receiver can change over."
        title={`Give ${name} a new key?`}
      />
      <ConfirmDialog
        confirm="Remove webhook"
        isDangerous
        onClose={() => setAsked(null)}
        onConfirm={() => remove.run()}
        open={asked === 'remove'}
        text="It is told of nothing more, and its deliveries are forgotten. There is no undo."
        title={`Remove ${name}?`}
      />
    </div>
  )
}

function Deliveries({ webhook }: { webhook: Webhook }) {
  const sent = useSent(webhook.id)
  return (
    <section aria-label="Deliveries" className="flex flex-col gap-2">
      <h3 className="text-row font-medium">Deliveries</h3>
      <Loaded
        empty={<p className="text-row text-muted">Nothing has been sent yet.</p>}
        read={sent}
        rowHeight={44}
        rows={5}
      >
        {() => (
          <ul className="rounded-card border border-line bg-raised">
            {sent.items.map((one) => (
              <SentRow key={one.id} of={one} webhookId={webhook.id} />
            ))}
          </ul>
        )}
      </Loaded>
      {sent.data && sent.data.nextCursor !== null && (
        <Button className="self-start" onClick={sent.loadMore} size="small">
          Show older
        </Button>
      )}
    </section>
  )
}
