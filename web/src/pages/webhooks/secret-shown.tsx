import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Dialog } from '../../parts/dialog.tsx'

export interface Shown {
  title: string
  /** What is to be kept, each with its name. */
  parts: readonly { words: string; text: string }[]
}

/** A secret that is shown once. It is not closed by accident. */
export function SecretShown({ shown, onClose }: { shown: Shown; onClose: () => void }) {
  return (
    <Dialog
      actions={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
      onClose={onClose}
      onlyByButtons
      open
      text="Copy it now: the secret is shown only here, and only once."
      title={shown.title}
    >
      <div className="flex flex-col gap-4">
        {shown.parts.map(({ words, text }) => (
          <div className="flex flex-col gap-1" key={words}>
            <p className="text-row font-medium">{words}</p>
            <Copyable isBlock text={text} />
          </div>
        ))}
      </div>
    </Dialog>
  )
}
