import { useState } from 'react'
import { Button } from '../../../parts/button.tsx'
import { ConfirmDialog } from '../../../parts/confirm-dialog.tsx'
import { backToOutline } from './plan-draft.ts'
import type { Fault } from './plan-text.ts'
import type { PlanDrafting } from './use-plan-draft.ts'

/** Says where the YAML cannot be read, and how it goes on: the outline waits as it was. */
export function Unreadable(props: { drafting: PlanDrafting; fault: Fault; onShow: (line: number) => void }) {
  const { drafting, fault, onShow } = props
  const [isAsked, setAsked] = useState(false)
  return (
    <section
      aria-label="The YAML cannot be read"
      className="flex flex-wrap items-center gap-2 rounded-card bg-bad-tint px-3 py-2 text-row text-bad"
      role="alert"
    >
      <p className="min-w-0 flex-1 basis-64 break-words">
        <span className="font-medium">The YAML cannot be read from line {fault.line}:</span> {fault.words} The
        outline is as it was before, and takes no edits until the YAML can be read.
      </p>
      <Button onClick={() => onShow(fault.line)} size="small">
        Go to line {fault.line}
      </Button>
      <Button onClick={() => setAsked(true)} size="small">
        Back to the outline
      </Button>
      <ConfirmDialog
        confirm="Discard what cannot be read"
        isDangerous
        onClose={() => setAsked(false)}
        onConfirm={() => drafting.set(backToOutline)}
        open={isAsked}
        text="The YAML is written again from the outline: what was typed since it could be read last is lost, and comments are, too."
        title="Discard the YAML?"
      />
    </section>
  )
}
