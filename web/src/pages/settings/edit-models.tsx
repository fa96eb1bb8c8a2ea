import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { adapterName } from '../../things/agent/adapter-words.ts'
import { FormDialog } from '../../things/budget/form-dialog.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'

export type Tiers = AnswerTo<'GET', '/model-tiers'>['items'][number]

export const SIZES = ['small', 'medium', 'large'] as const
export const SIZE_WORDS = { small: 'Small tasks', medium: 'Medium tasks', large: 'Large tasks' } as const

/** The models of one program by the size of the task. Whether it has them, its adapter says. */
export function EditModels({ tiers, onClose }: { tiers: Tiers; onClose: () => void }) {
  const { adapterType } = tiers
  const name = adapterName(adapterType)
  const [models, setModels] = useState({
    ...{ small: tiers.small ?? '', medium: tiers.medium ?? '', large: tiers.large ?? '' },
  })
  const named = (size: (typeof SIZES)[number]) => (models[size] === '' ? null : models[size])
  const save = useAct(
    () =>
      api().put('/model-tiers/:type', {
        params: { type: adapterType },
        body: { small: named('small'), medium: named('medium'), large: named('large') },
      }),
    () => {
      onClose()
      return SIZES.every((size) => named(size) === null)
        ? `Agents of ${name} work with their own models.`
        : `The models of ${name} are named.`
    },
    { right: 'admin', onRefused: shownInPlace },
  )
  return (
    <FormDialog
      confirm="Save models"
      error={save.error}
      isBusy={save.isBusy}
      onClose={onClose}
      onConfirm={() => save.run()}
      refusal={save.whyNot}
      text="For runs that begin from now on. Left empty, the agent’s own model works."
      title={`Models of ${name}`}
    >
      {SIZES.map((size) => (
        <Field key={size} label={SIZE_WORDS[size]}>
          <TextInput
            autoComplete="off"
            className="font-mono"
            onChange={(event) => {
              save.reset()
              setModels((before) => ({ ...before, [size]: event.target.value.trim() }))
            }}
            placeholder="the agent’s own"
            spellCheck={false}
            value={models[size]}
          />
        </Field>
      ))}
    </FormDialog>
  )
}
