import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import type { Track } from './use-projects.ts'

const LONGEST_PURPOSE = 2_000
const MOST_AGENTS = 100_000

/** Its limit of agents, and what it is for. */
export function EditTrack({ slug, track, onClose }: { slug: string; track: Track; onClose: () => void }) {
  const { track: name, maxAgents, purpose } = track
  const { value, set, drop } = useDraft(`track:${slug}:${name}`, {
    most: maxAgents === null ? '' : String(maxAgents),
    purpose: purpose ?? '',
  })
  const most = value.most.trim()
  const limit = most === '' ? null : Number(most)
  const problem =
    limit !== null && !(Number.isInteger(limit) && limit >= 1 && limit <= MOST_AGENTS)
      ? 'Write a whole number from 1, or nothing.'
      : null
  const discard = () => {
    drop()
    onClose()
  }
  const save = useAct(
    () =>
      api().put('/projects/:slug/tracks/:track', {
        params: { slug, track: name },
        body: { maxAgents: limit, purpose: value.purpose.trim() === '' ? null : value.purpose.trim() },
      }),
    () => {
      discard()
      return `Track ${name} is saved.`
    },
    { onRefused: shownInPlace },
  )
  const refusal = save.whyNot ?? problem
  const submit = () => refusal === null && !save.isBusy && save.run()
  return (
    <Dialog
      actions={
        <>
          <Button onClick={discard}>Back</Button>
          <Button
            busy={save.isBusy}
            disabledReason={refusal}
            kind="primary"
            onClick={submit}
            shortcut="Ctrl Enter"
          >
            Save
          </Button>
        </>
      }
      onClose={onClose}
      open
      title={`Track ${name}`}
      width="small"
    >
      <form
        className="flex flex-col gap-4"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey) && !event.repeat) submit()
        }}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <Field
          hint="How many agents may work on it at once. Empty: any number. Agents on it stay."
          label="Limit of agents"
          problem={problem}
        >
          <TextInput
            inputMode="numeric"
            onChange={(event) => set((before) => ({ ...before, most: event.target.value }))}
            value={value.most}
          />
        </Field>
        <Field hint="Agents and people read it with each task of the track." label="What it is for">
          <TextInput
            maxLength={LONGEST_PURPOSE}
            onChange={(event) => set((before) => ({ ...before, purpose: event.target.value }))}
            rows={3}
            value={value.purpose}
          />
        </Field>
        {save.error && <ProblemBox error={save.error} />}
      </form>
    </Dialog>
  )
}
