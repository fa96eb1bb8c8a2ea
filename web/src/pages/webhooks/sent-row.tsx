import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { Moment } from '../../parts/moment.tsx'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import { LOOK_OF_SENT, type Sent } from './words.ts'

/** A delivery, and what the receiver said to it in its own words. */
export function SentRow({ of, webhookId }: { of: Sent; webhookId: string }) {
  const look = LOOK_OF_SENT[of.state] ?? { words: of.state, hue: 'wait' }
  const at = of.lastAttemptAt ?? of.nextAttemptAt
  const again = useAct(
    () => api().post('/webhooks/:id/redeliver', { params: { id: webhookId }, body: { delivery: of.id } }),
    'It is sent again.',
    { right: 'admin' },
  )
  return (
    <li className="not-first:border-t not-first:border-line">
      <details className="group">
        <summary className="focus-inside flex min-h-11 cursor-pointer flex-wrap items-center gap-x-3 gap-y-1 px-3 py-2 text-row hover:bg-hover">
          <Chip hue={look.hue}>{look.words}</Chip>
          <span className="min-w-0 flex-1 font-mono wrap-anywhere">{of.type}</span>
          <span className="text-muted tabular-nums">
            {of.httpStatus ?? ''} {of.durationMs !== null && `${of.durationMs} ms`}
          </span>
          {at !== null && (
            <span className="text-muted">
              <Moment at={at} />
            </span>
          )}
        </summary>
        <div className="flex flex-col gap-2 px-3 pb-3 text-row">
          <p className="text-muted">
            Event {of.seq}, {of.attempts === 1 ? 'one attempt' : `${of.attempts} attempts`}
            {of.nextAttemptAt !== null && (
              <>
                , the next one <Moment at={of.nextAttemptAt} />
              </>
            )}
            . Its id: <span className="font-mono wrap-anywhere">{of.id}</span>
          </p>
          {of.error !== null && <p className="wrap-anywhere text-bad">{of.error}</p>}
          {of.answer ? (
            <Words text={of.answer} />
          ) : (
            of.httpStatus !== null && <p className="text-muted">The answer had no body.</p>
          )}
          <Button
            busy={again.isBusy}
            className="self-start"
            disabledReason={again.whyNot}
            icon="retry"
            onClick={() => again.run()}
            size="small"
          >
            Send again
          </Button>
        </div>
      </details>
    </li>
  )
}

/** The receiver's own words. */
const Words = ({ text }: { text: string }) => (
  <section
    aria-label="Answer of the receiver"
    className="focus-inside max-h-60 overflow-auto rounded-card border border-line bg-sunken p-2"
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard
    tabIndex={0}
  >
    <pre className="font-mono text-label wrap-anywhere whitespace-pre-wrap">{text}</pre>
  </section>
)
