import { useState } from 'react'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { FormDialog } from '../../things/budget/form-dialog.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import {
  bodyOf,
  draftOf,
  missingIn,
  NEW_PRICE,
  type Price,
  type PriceDraft,
  priceProblems,
  RATE_WORDS,
  RATES,
} from './price-words.ts'

/** What a model costs in this workspace. */
export function EditPrice({ price, onClose }: { price?: Price; onClose: () => void }) {
  const [draft, setDraft] = useState<PriceDraft>(price ? draftOf(price) : NEW_PRICE)
  const problems = priceProblems(draft)
  const save = useAct(
    () => api().put('/prices/:model', { params: { model: draft.model }, body: bodyOf(draft, price) }),
    ({ model }) => {
      onClose()
      return `The price of ${model} is set.`
    },
    { right: 'admin', onRefused: shownInPlace },
  )
  const write = (next: Partial<PriceDraft>) => {
    save.reset()
    setDraft((before) => ({ ...before, ...next }))
  }
  return (
    <FormDialog
      confirm="Set price"
      error={save.error}
      isBusy={save.isBusy}
      onClose={onClose}
      onConfirm={() => save.run()}
      refusal={save.whyNot ?? missingIn(draft)}
      text="Dollars for a million tokens, in this workspace, from now on."
      title={price ? `Price of ${price.model}` : 'Set a price'}
    >
      {!price && (
        <Field
          hint="As its program writes it; its provider and date do not matter."
          label="Model"
          problem={problems.model}
        >
          <TextInput
            autoComplete="off"
            className="font-mono"
            onChange={(event) => write({ model: event.target.value.trim() })}
            spellCheck={false}
            value={draft.model}
          />
        </Field>
      )}
      <div className="grid grid-cols-[repeat(auto-fit,minmax(9rem,1fr))] gap-3">
        {RATES.map((rate) => (
          <Field key={rate} label={RATE_WORDS[rate].label} problem={problems[rate]}>
            <TextInput
              autoComplete="off"
              inputMode="decimal"
              onChange={(event) => write({ [rate]: event.target.value.trim().replace(/^\$/, '') })}
              placeholder={RATE_WORDS[rate].usual}
              value={draft[rate]}
            />
          </Field>
        ))}
      </div>
    </FormDialog>
  )
}
