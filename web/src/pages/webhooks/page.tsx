import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded, Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { EditHook } from './edit-hook.tsx'
import { EditWebhook } from './edit-webhook.tsx'
import { HookPanel } from './hook-panel.tsx'
import { SecretShown, type Shown } from './secret-shown.tsx'
import { useRowKeys } from './use-row-keys.ts'
import { useHooks, useWebhooks } from './use-webhooks.ts'
import { WebhookPanel } from './webhook-panel.tsx'
import { HookRow, WebhookRow } from './webhook-rows.tsx'
import type { Edited } from './words.ts'

/** What other programs are told of, and what they may ask for. */
export function Webhooks() {
  const { webhook, hook } = useSearch({ from: '/webhooks' })
  const go = useGo()
  const refusal = useSession().whyNot('admin')
  const out = useWebhooks()
  const into = useHooks()
  const [edited, setEdited] = useState<Edited | null>(null)
  const [secret, setSecret] = useState<Shown | null>(null)
  const show = (next: { webhook?: string; hook?: string }) =>
    go(`/webhooks${writeSearch(next)}`, { replace: true })
  const rows = [
    ...out.items.map(({ id }) => ({ id, open: () => show({ webhook: id }) })),
    ...into.items.map(({ id }) => ({ id, open: () => show({ hook: id }) })),
  ]
  const selected = useRowKeys({
    ...{ rows, opened: webhook ?? hook, refusal, onClose: () => show({}) },
    onNewWebhook: () => setEdited({ kind: 'webhook', webhook: null }),
    onNewHook: () => setEdited({ kind: 'hook', hook: null }),
  })
  const openedWebhook = out.items.find(({ id }) => id === webhook)
  const openedHook = into.items.find(({ id }) => id === hook)
  const inPanel = { onEdit: setEdited, onSecret: setSecret, onClose: () => show({}) }
  const newWebhook = (
    <NewButton isFirst onClick={() => setEdited({ kind: 'webhook', webhook: null })} what="webhook" />
  )
  const newHook = <NewButton onClick={() => setEdited({ kind: 'hook', hook: null })} what="hook" />
  return (
    <Page
      panel={
        openedWebhook ? (
          <WebhookPanel key={openedWebhook.id} webhook={openedWebhook} {...inPanel} />
        ) : (
          openedHook && <HookPanel hook={openedHook} key={openedHook.id} {...inPanel} />
        )
      }
      title="Webhooks"
    >
      {out.data === undefined && into.data === undefined ? (
        // One sentence for all of it.
        <Loading
          read={{
            data: undefined,
            error: out.error ?? into.error,
            refetch: () => Promise.all([out.refetch(), into.refetch()]),
          }}
          rowHeight={64}
          rows={6}
        />
      ) : (
        <div className="flex flex-col gap-10">
          <Section action={newWebhook} text="Addresses that are told of events." title="Events out">
            <Loaded empty={<NoWebhooks />} read={out} rowHeight={64} rows={3}>
              {() => (
                <Rows label="Webhooks" more={out}>
                  {out.items.map((one) => (
                    <WebhookRow
                      isSelected={selected === one.id}
                      key={one.id}
                      of={one}
                      onOpen={() => show({ webhook: one.id })}
                    />
                  ))}
                </Rows>
              )}
            </Loaded>
          </Section>
          <Section
            action={newHook}
            text="Addresses that other programs call, to wake an agent, create a task or start a routine."
            title="Hooks in"
          >
            <Loaded empty={<NoHooks />} read={into} rowHeight={64} rows={3}>
              {() => (
                <Rows label="Hooks" more={into}>
                  {into.items.map((one) => (
                    <HookRow
                      isSelected={selected === one.id}
                      key={one.id}
                      of={one}
                      onOpen={() => show({ hook: one.id })}
                    />
                  ))}
                </Rows>
              )}
            </Loaded>
          </Section>
        </div>
      )}
      <Editing edited={edited} onClose={() => setEdited(null)} onSecret={setSecret} />
      {secret && <SecretShown onClose={() => setSecret(null)} shown={secret} />}
    </Page>
  )
}

function Editing(props: { edited: Edited | null; onClose: () => void; onSecret: (secret: Shown) => void }) {
  const { edited, onClose, onSecret } = props
  if (edited === null) return null
  return edited.kind === 'webhook' ? (
    <EditWebhook onClose={onClose} onSecret={onSecret} webhook={edited.webhook} />
  ) : (
    <EditHook hook={edited.hook} onClose={onClose} onSecret={onSecret} />
  )
}

function NewButton(props: { what: 'webhook' | 'hook'; isFirst?: boolean; onClick: () => void }) {
  const { what, isFirst = false, onClick } = props
  const refusal = useSession().whyNot('admin')
  return (
    <Button
      disabledReason={refusal}
      icon="plus"
      kind={isFirst ? 'primary' : 'plain'}
      onClick={onClick}
      shortcut={isFirst ? 'n' : 'h'}
      size="small"
    >
      New {what}
    </Button>
  )
}

function Section(props: { title: string; text: string; action: ReactNode; children: ReactNode }) {
  const { title, text, action, children } = props
  const id = `section-${title.split(' ')[0]}`
  return (
    <section aria-labelledby={id} className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-3">
        <div className="min-w-0 flex-1 basis-60">
          <h2 className="text-title font-semibold" id={id}>
            {title}
          </h2>
          <p className="text-row text-muted">{text}</p>
        </div>
        {action}
      </div>
      {children}
    </section>
  )
}

function Rows(props: {
  label: string
  more: { data: { nextCursor: string | null } | undefined; loadMore: () => void }
  children: ReactNode
}) {
  const { label, more, children } = props
  return (
    <>
      <ul aria-label={label} className="rounded-card border border-line bg-raised">
        {children}
      </ul>
      {more.data && more.data.nextCursor !== null && (
        <Button className="self-start" onClick={more.loadMore} size="small">
          Show more
        </Button>
      )}
    </>
  )
}

const NoWebhooks = () => (
  <Empty
    command={`node -e "require('http').createServer((q,s)=>q.pipe(process.stdout)&&s.end()).listen(9000)"`}
    drawing="handover"
    text="A webhook sends events to another program as they happen: signed, in order, and again until they arrive. This receiver shows what comes."
    title="Nobody is told of events"
  />
)

const NoHooks = () => (
  <Empty
    drawing="tray"
    text="A hook is an address with a secret, for GitHub, GitLab or any other program. What it sends is material for your agents, never an instruction."
    title="No other program can ask for work"
  />
)
