import { useState } from 'react'
import { useLive } from '../../live/provider.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { placeIn } from './event-list.ts'

/** Asks where to go in the log: to a number, or to what was written last before a time. */
export function Jump({ onClose, onJump }: { onClose: () => void; onJump: (seq: number) => void }) {
  const live = useLive()
  const [text, setText] = useState('')
  const place = placeIn(text, live.now())
  const find = useAct(
    async () => {
      if (place === null) return null
      if ('seq' in place) return place.seq
      const to = new Date(place.at).toISOString()
      const { items } = await api().get('/events', { query: { to, order: 'desc', limit: '1' } })
      return items[0]?.seq ?? 0
    },
    (seq) => {
      if (seq !== null) onJump(seq)
      return undefined
    },
    { right: 'read', onRefused: shownInPlace },
  )
  const missing = place === null ? 'Write a number or a time.' : null
  const go = () => {
    if (missing === null && !find.isBusy) find.run()
  }
  const problem =
    find.error?.message ??
    (find.error === null && text !== '' && place === null ? 'Neither a number nor a time.' : null)
  return (
    <Dialog
      actions={
        <>
          <Button onClick={onClose}>Back</Button>
          <Button busy={find.isBusy} disabledReason={missing} kind="primary" onClick={go}>
            Go there
          </Button>
        </>
      }
      onClose={onClose}
      open
      title="Go to a place in the log"
      width="small"
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          go()
        }}
      >
        <Field
          hint="The number of an event (48,211), a time of day (14:05) or a date (2026-11-19 14:05)."
          label="Number or time"
          problem={problem}
        >
          <TextInput autoFocus onChange={(event) => setText(event.target.value)} value={text} />
        </Field>
      </form>
    </Dialog>
  )
}
