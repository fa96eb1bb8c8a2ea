import { Chip } from '../../parts/chip.tsx'
import { Moment } from '../../parts/moment.tsx'
import { countText } from '../../parts/wording.ts'
import { doesWords, type Hook, lookOfHook, lookOfWebhook, SCHEME_WORDS, type Webhook } from './words.ts'

const ROW = 'flex flex-wrap items-start gap-x-4 gap-y-1 px-4 py-2.5 not-first:border-t not-first:border-line'
const selectedRow = (isSelected: boolean) =>
  isSelected ? `${ROW} bg-hover shadow-[inset_2px_0_0_var(--accent)]` : ROW

interface Row {
  isSelected: boolean
  onOpen: () => void
}

/** One that is told of events. */
export function WebhookRow({ of, isSelected, onOpen }: Row & { of: Webhook }) {
  const look = lookOfWebhook(of)
  return (
    <li className={selectedRow(isSelected)} data-row={of.id}>
      <div className="flex min-w-0 flex-1 basis-60 flex-col gap-0.5">
        <Name name={of.name} onOpen={onOpen} />
        <p className="font-mono text-row wrap-anywhere text-muted">{of.url}</p>
        <p className="text-label wrap-anywhere text-muted">{of.events.join(', ')}</p>
      </div>
      <div className="flex flex-wrap items-center gap-2 text-row">
        {of.failed > 0 && <span className="text-bad">{countText(of.failed)} given up</span>}
        {of.waiting > 0 && <span className="text-muted">{countText(of.waiting)} to be tried again</span>}
        <span className="text-muted">
          {of.lastDeliveredAt === null ? (
            'nothing delivered yet'
          ) : (
            <>
              delivered <Moment at={of.lastDeliveredAt} />
            </>
          )}
        </span>
        <Chip hue={look.hue}>{look.words}</Chip>
      </div>
    </li>
  )
}

/** One that other programs call. */
export function HookRow({ of, isSelected, onOpen }: Row & { of: Hook }) {
  const look = lookOfHook(of)
  return (
    <li className={selectedRow(isSelected)} data-row={of.id}>
      <div className="flex min-w-0 flex-1 basis-60 flex-col gap-0.5">
        <Name name={of.name} onOpen={onOpen} />
        <p className="text-row wrap-anywhere text-muted">{doesWords(of)}</p>
      </div>
      <div className="flex flex-wrap items-center gap-2 text-row">
        <span className="text-muted">
          {of.lastDelivery === null ? (
            'nothing has come yet'
          ) : (
            <>
              {of.lastDelivery.verdict} <Moment at={of.lastDelivery.receivedAt} />
            </>
          )}
        </span>
        <Chip>{SCHEME_WORDS[of.scheme].words}</Chip>
        <Chip hue={look.hue}>{look.words}</Chip>
      </div>
    </li>
  )
}

const Name = ({ name, onOpen }: { name: string; onOpen: () => void }) => (
  <button
    className="touchable block max-w-full truncate text-left text-body font-medium hover:text-accent hover:underline"
    onClick={onOpen}
    title={name}
    type="button"
  >
    {name}
  </button>
)
