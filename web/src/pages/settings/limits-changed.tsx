import { Button } from '../../parts/button.tsx'
import { differences, type LimitDraft, type Limits } from './limit-fields.ts'

/** Somebody else has saved in the meantime: both are shown, and one is chosen. */
export function LimitsChanged(props: {
  base: Limits
  saved: Limits
  draft: LimitDraft
  onKeep: () => void
  onTake: () => void
}) {
  const { base, saved, draft, onKeep, onTake } = props
  return (
    <section
      aria-label="Changed by somebody else"
      className="flex flex-col gap-3 rounded-card border border-line bg-raised p-4"
      role="alert"
    >
      <p className="text-body font-medium">The limits changed while you were editing.</p>
      <table className="text-row">
        <thead>
          <tr className="text-left text-label text-muted">
            <th className="py-1 pr-4 font-medium">Limit</th>
            <th className="py-1 pr-4 font-medium">Before</th>
            <th className="py-1 pr-4 font-medium">Saved now</th>
            <th className="py-1 font-medium">Yours</th>
          </tr>
        </thead>
        <tbody>
          {differences(base, saved, draft).map(({ name, words, before, saved: now, mine }) => (
            <tr className="border-t border-line" key={name}>
              <td className="py-1 pr-4">{words}</td>
              <td className="py-1 pr-4 text-muted tabular-nums">{before}</td>
              <td className="py-1 pr-4 tabular-nums">{now}</td>
              <td className="py-1 tabular-nums">{mine ?? <span className="text-faint">not changed</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="flex flex-wrap gap-2">
        <Button onClick={onKeep} size="small">
          Keep mine
        </Button>
        <Button kind="quiet" onClick={onTake} size="small">
          Take what is saved
        </Button>
      </div>
    </section>
  )
}
