import { Problem } from '../../../../src/client/client.ts'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Switch } from '../../parts/switch.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'

import { FormDialog } from '../../things/budget/form-dialog.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import {
  defaultOf,
  isOfInstance,
  measureOf,
  refusalText,
  type Threshold,
  type ThresholdDraft,
  titleOf,
  valueProblem,
  valueText,
} from './threshold-words.ts'

const NOTHING: ThresholdDraft = {}

/** From which figure on an alert is raised in this workspace, and whether one is. */
export function EditThreshold({ threshold, onClose }: { threshold: Threshold; onClose: () => void }) {
  const { cause } = threshold
  const usual = defaultOf(threshold)
  // Only what is written is kept: the rest follows what somebody else saves.
  const draft = useDraft<ThresholdDraft>(`threshold:${cause}`, NOTHING)
  const text = draft.value.value ?? String(threshold.value)
  const isOn = draft.value.isOn ?? threshold.isOn
  const problem = valueProblem(text)
  const isSame = text === String(threshold.value) && isOn === threshold.isOn
  const done = () => {
    draft.drop()
    onClose()
  }
  const save = useAct(
    () => api().put('/thresholds/:cause', { params: { cause }, body: { value: Number(text), isOn } }),
    (saved) => {
      done()
      const above = `above ${valueText(saved, saved.value)}`
      return `${titleOf(saved)}: ${saved.isOn ? `an alert is raised ${above}.` : 'no alert is raised.'}`
    },
    { right: 'admin', onRefused: shownInPlace },
  )
  const write = (change: ThresholdDraft) => {
    save.reset()
    draft.set((before) => ({ ...before, ...change }))
  }
  const refused = refusalOfValue(save.error)
  return (
    <FormDialog
      confirm="Save threshold"
      error={refused === null ? save.error : null}
      isBusy={save.isBusy}
      onClose={onClose}
      onConfirm={() => save.run()}
      onDiscard={!isSame && done}
      refusal={save.whyNot ?? problem ?? (isSame ? 'Nothing is changed.' : null)}
      text={
        isOfInstance(threshold)
          ? 'It is about the whole instance, and counts in its first workspace only.'
          : 'The alert is over when the figure is no longer above the threshold.'
      }
      title={titleOf(threshold)}
    >
      <Field
        hint={`${measureOf(threshold)}. The default is ${valueText(threshold, usual.value)}.`}
        label="Raised above"
        problem={problem ?? refused}
      >
        <TextInput
          autoComplete="off"
          inputMode="numeric"
          onChange={(event) => write({ value: event.target.value.trim() })}
          value={text}
        />
      </Field>
      <Field hint={`The default is ${usual.isOn ? 'on' : 'off'}.`} label="Raise an alert">
        <Switch checked={isOn} onChange={(next) => write({ isOn: next })} />
      </Field>
    </FormDialog>
  )
}

/** What the server says about the value. */
function refusalOfValue(error: Error | null): string | null {
  if (!(error instanceof Problem)) return null
  const found = error.errors?.find(({ field }) => field === 'value')
  return found ? refusalText(found.message) : null
}
