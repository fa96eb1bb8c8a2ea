import { memo } from 'react'
import type { Step } from '../../../../src/kinds/run/shapes/transcript.ts'
import { Duration } from '../../parts/duration.tsx'
import { Icon } from '../../parts/icon.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { countText, durationText, moneyText, tokensText } from '../../parts/wording.ts'
import { clockText } from '../times.ts'
import { type StepRow, sumOf } from './fold.ts'
import { STEP_KINDS } from './kinds.ts'
import { StepBody } from './step-body.tsx'

interface Props {
  row: StepRow
  isOpen: boolean
  isSelected: boolean
  /** Tokens of the whole run: the bar shows the share of this row. */
  tokensOfRun: number
  onToggle: (key: number) => void
  onSelect: (key: number) => void
  onRaw: (offset: number) => void
}

const tokensOf = ({ tokens }: Step) => tokens && tokens.input + tokens.output

/** One line a step, or for several folded ones; opened, what is in them. */
export const StepRowView = memo(function StepRowView(props: Props) {
  const { row, isOpen, isSelected, tokensOfRun, onToggle, onSelect, onRaw } = props
  const [first] = row.steps as [Step]
  return (
    <div
      className={`${first.kind === 'log' && !isOpen ? '' : 'border-b'} border-line px-6 max-sm:px-4 ${isSelected ? 'shadow-[inset_2px_0_0_var(--accent)]' : ''} ${isSelected && !isOpen ? 'bg-hover' : ''}`}
    >
      <button
        aria-expanded={isOpen}
        className={`focus-inside grid w-full ${first.kind === 'log' ? 'min-h-6' : 'min-h-9'} grid-cols-[4.5rem_1rem_minmax(0,1fr)_auto] items-center gap-x-3 text-left text-row hover:text-ink max-sm:min-h-9 max-sm:grid-cols-[1rem_minmax(0,1fr)_auto]`}
        data-step={row.key}
        onClick={() => {
          onSelect(row.key)
          onToggle(row.key)
        }}
        type="button"
      >
        <span className="font-mono text-label text-faint max-sm:hidden">
          {first.at ? clockText(Date.parse(first.at)) : ''}
        </span>
        <Icon
          className={first.isError ? 'text-bad' : 'text-muted'}
          name={STEP_KINDS[first.kind].icon}
          size={14}
        />
        <Title isOpen={isOpen} row={row} />
        <Figures row={row} tokensOfRun={tokensOfRun} />
      </button>
      {isOpen && (
        <div className="pl-28 max-sm:pl-7">
          {row.steps.map((step) => (
            <div key={step.n}>
              {row.steps.length > 1 && (
                <p className="pt-2 text-row font-medium wrap-anywhere">{step.title}</p>
              )}
              <StepBody onRaw={onRaw} step={step} />
            </div>
          ))}
        </div>
      )}
    </div>
  )
})

function Title({ row: { steps }, isOpen }: { row: StepRow; isOpen: boolean }) {
  const [first] = steps as [Step]
  const name =
    first.tool ?? (first.kind === 'said' || first.kind === 'log' ? null : STEP_KINDS[first.kind].words)
  const isQuiet = first.kind === 'thought' || first.kind === 'log'
  const titles = steps.length === 1 ? plainTitle(first) : steps.map(plainTitle).join(' · ')
  return (
    <span className={isOpen ? 'py-2 wrap-anywhere' : 'truncate'}>
      <span className="sr-only">{STEP_KINDS[first.kind].words}: </span>
      {name && <span className="mr-2 font-medium">{name}</span>}
      {steps.length > 1 && <span className="mr-2 text-muted">×{countText(steps.length)}</span>}
      <span
        className={`${isQuiet ? 'text-muted' : ''} ${first.kind === 'call' || first.kind === 'log' ? 'font-mono' : ''}`}
      >
        {titles}
      </span>
    </span>
  )
}

/** The first line of what was said, without the Markdown markers for bold and code. */
const plainTitle = ({ kind, title }: Step) =>
  kind === 'said' || kind === 'ended' ? title.replaceAll(/\*\*|`|^#+ /g, '') : title

/** How it ended, how long it took, how many tokens, and its share of the run. */
function Figures({ row: { steps }, tokensOfRun }: { row: StepRow; tokensOfRun: number }) {
  const [first] = steps as [Step]
  const tokens = sumOf(steps, tokensOf)
  const cost = sumOf(steps, ({ costUsd }) => (costUsd === null ? null : Number(costUsd)))
  const durationMs = sumOf(steps, (step) => step.durationMs)
  const share = tokens === null || tokensOfRun === 0 ? 0 : Math.min(tokens / tokensOfRun, 1)
  return (
    <span className="grid grid-cols-[1rem_4.5rem_5.5rem] items-center gap-x-3 text-right text-label text-muted max-sm:grid-cols-[1rem_3.5rem]">
      {first.isError ? (
        <StateMark label="failed" size={12} state="failed" />
      ) : first.isOpen ? (
        <StateMark label="running" size={12} state="running" />
      ) : (
        <span />
      )}
      <span>
        {first.isOpen && first.at ? (
          <Duration since={first.at} />
        ) : durationMs === null ? (
          ''
        ) : (
          durationText(durationMs)
        )}
      </span>
      <span className="max-sm:hidden" title={cost === null ? undefined : moneyText(cost)}>
        {tokens === null ? '' : `${tokensText(tokens)} tokens`}
        <span
          className="mt-0.5 ml-auto block h-0.5 rounded-pill bg-edge"
          style={{ width: `${Math.round(share * 100)}%` }}
        />
      </span>
    </span>
  )
}
