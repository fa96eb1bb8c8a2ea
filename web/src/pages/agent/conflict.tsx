import { Button } from '../../parts/button.tsx'
import { Diff } from '../../parts/diff.tsx'

interface Props {
  /** What both changed, as the beginning of a sentence. */
  what: string
  mine: string
  /** What is saved now. */
  saved: string
  /** What keeping mine means. */
  keep: string
  onKeep: () => void
  onTakeSaved: () => void
}

/** Somebody else has saved in the meantime: both versions, and a choice between them. */
export function Conflict({ what, mine, saved, keep, onKeep, onTakeSaved }: Props) {
  return (
    <section
      aria-label="Changed by somebody else"
      className="flex flex-col gap-3 rounded-card border border-line bg-raised p-4"
      role="alert"
    >
      <p className="text-body font-medium">{what} changed while you were editing.</p>
      <p className="text-row text-muted">Red is what is saved now, green is yours.</p>
      <div className="flex flex-wrap gap-2">
        <Button onClick={onKeep} size="small">
          {keep}
        </Button>
        <Button kind="quiet" onClick={onTakeSaved} size="small">
          Take what is saved
        </Button>
      </div>
      {/* Below the buttons: it is loaded when it is first shown, and must not move them under a click. */}
      <Diff after={mine} before={saved} label="Saved and yours" />
    </section>
  )
}
