import { Button } from '../../parts/button.tsx'
import { Diff } from '../../parts/diff.tsx'
import { type Saved, settingsText } from './settings-draft.ts'

/** Somebody saved other settings meanwhile: both versions, and a choice between them. */
export function Conflict(props: {
  mine: Omit<Saved, 'version'>
  theirs: Saved
  onTakeTheirs: () => void
  onSaveMine: () => void
}) {
  const { mine, theirs, onTakeTheirs, onSaveMine } = props
  return (
    <section
      aria-label="Changed meanwhile"
      className="flex flex-col gap-3 rounded-card border border-line bg-raised p-4"
      role="alert"
    >
      <p className="text-body font-medium">The settings were changed while you edited them.</p>
      <p className="text-row text-muted">Red is what is saved now, green is yours.</p>
      <Diff after={settingsText(mine)} before={settingsText(theirs)} label="Saved and yours" />
      <div className="flex flex-wrap gap-2">
        <Button onClick={onSaveMine} size="small">
          Save mine over it
        </Button>
        <Button kind="quiet" onClick={onTakeTheirs} size="small">
          Take what is saved
        </Button>
      </div>
    </section>
  )
}
