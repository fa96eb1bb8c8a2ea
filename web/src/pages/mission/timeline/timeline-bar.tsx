import { Button } from '../../../parts/button.tsx'
import { IconButton } from '../../../parts/icon-button.tsx'
import { durationText } from '../../../parts/wording.ts'

/** How much time is in view, and what can be done with it. */
export function TimelineBar(props: {
  shownMs: number
  /** Null: all of it is in view. */
  wholeMs: number | null
  /** Of what is in view: idle, and folded. */
  foldedMs: number
  /** Null: there is nothing to fold. */
  isFolding: boolean | null
  onFolding: () => void
  onlyFailed: boolean
  onFailed: () => void
  onZoom: (by: number) => void
  onMove: (part: number) => void
  onWhole: () => void
}) {
  const { shownMs, wholeMs, foldedMs, isFolding, onFolding, onlyFailed, onFailed, onZoom, onMove, onWhole } =
    props
  const refusal = wholeMs === null ? 'All of it is shown.' : null
  const step = { size: 'small', disabledReason: refusal } as const
  return (
    <div className="flex flex-wrap items-center gap-2 text-row text-muted">
      <span>
        {durationText(shownMs)}
        {wholeMs === null ? ' in all' : ` of ${durationText(wholeMs)}`}
        {foldedMs > 0 && `, of which ${durationText(foldedMs)} idle are folded`}
      </span>
      <span className="ml-auto flex flex-wrap items-center gap-1">
        {isFolding !== null && (
          <Button
            aria-pressed={isFolding}
            kind={isFolding ? 'primary' : 'plain'}
            onClick={onFolding}
            shortcut="i"
            size="small"
          >
            Fold idle time
          </Button>
        )}
        <Button
          aria-pressed={onlyFailed}
          kind={onlyFailed ? 'primary' : 'plain'}
          onClick={onFailed}
          shortcut="f"
          size="small"
        >
          Failed only
        </Button>
        <IconButton {...step} icon="arrow-left" label="Earlier" onClick={() => onMove(-0.5)} shortcut="<" />
        <IconButton {...step} icon="arrow-right" label="Later" onClick={() => onMove(0.5)} shortcut=">" />
        <IconButton icon="minus" label="Longer time" onClick={() => onZoom(2)} shortcut="-" size="small" />
        <IconButton icon="plus" label="Shorter time" onClick={() => onZoom(0.5)} shortcut="+" size="small" />
        <Button {...step} onClick={onWhole} shortcut="0">
          All of it
        </Button>
      </span>
    </div>
  )
}
