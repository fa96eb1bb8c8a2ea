import { causeOf } from '../../../../src/pure/cause.ts'
import { Icon } from '../../parts/icon.tsx'
import { Moment } from '../../parts/moment.tsx'
import { plainWords, reasonText } from '../../parts/wording.ts'
import { HUE_TEXT } from '../../theme/hues.ts'
import { reasonText as agentReason } from '../../things/agent/reason-text.ts'
import { blocksWords, headline, type InboxItem, lookOf } from '../../things/inbox/kinds.ts'
import { closedWords, type Row } from './rows.ts'

const secondLine = ({ kind, title, preview, reason, generation, digest }: InboxItem) => {
  if (kind === 'question') return title
  if (kind === 'finished') return reason ?? 'Its report says what was done'
  if (kind === 'plan' && digest !== null) return `Version ${generation} of the plan`
  const text = preview ?? (reason && reasonText(reason))
  if (text && (kind === 'dead_letter' || kind === 'agent')) return causeOf(agentReason(text))
  return text && plainWords(text)
}

/** One thing that waits, in two lines. */
export function ItemRow(props: {
  row: Row
  isCurrent: boolean
  isChecked: boolean
  onOpen: () => void
  onCheck: () => void
}) {
  const { row, isCurrent, isChecked, onOpen, onCheck } = props
  const { item, closed } = row
  const { words, icon, hue } = lookOf(item)
  return (
    <li
      className={`group relative flex border-b border-line ${isCurrent ? 'bg-hover shadow-[inset_2px_0_0_var(--accent)]' : 'hover:bg-hover'}`}
      data-item={item.id}
    >
      <label className="flex w-10 shrink-0 cursor-pointer items-start justify-center pt-3.5">
        <input
          aria-label={`Select: ${headline(item)}`}
          checked={isChecked}
          className={`absolute size-4 accent-(--accent) ${isChecked ? '' : 'opacity-0 group-hover:opacity-100 focus-visible:opacity-100'}`}
          disabled={closed !== null}
          onChange={onCheck}
          type="checkbox"
        />
        <span className={isChecked ? 'invisible' : 'group-focus-within:invisible group-hover:invisible'}>
          <Icon className={closed ? 'text-faint' : HUE_TEXT[hue]} name={closed ? 'check' : icon} />
        </span>
      </label>
      <button
        aria-current={isCurrent || undefined}
        className="focus-inside min-w-0 flex-1 py-2.5 pr-4 text-left"
        onClick={onOpen}
        type="button"
      >
        <span className="flex items-baseline gap-3">
          <span
            className={`min-w-0 flex-1 truncate text-body font-medium ${closed ? 'text-faint line-through' : ''}`}
          >
            {headline(item)}
          </span>
          <span className="shrink-0 text-label text-faint">
            <Moment at={item.since} />
          </span>
        </span>
        <span className="mt-0.5 flex min-w-0 gap-2 text-row text-muted">
          {closed ? (
            <span className="truncate">{closedWords(closed)}</span>
          ) : (
            <>
              <span className="truncate">{secondLine(item) ?? words}</span>
              {item.blocks > 0 && <span className="ml-auto shrink-0">{blocksWords(item.blocks)}</span>}
            </>
          )}
        </span>
      </button>
    </li>
  )
}
