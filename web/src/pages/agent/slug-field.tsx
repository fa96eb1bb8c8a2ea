import { Controller } from 'react-hook-form'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import type { FormProps } from './form-fields.tsx'
import { slugProblem } from './slugs.ts'

/** The name of a new agent: what does not fit is said while it is written, with the name to use instead. */
export function SlugField(
  props: FormProps & { slug: string; isTaken: boolean; onOffer: (slug: string) => void },
) {
  const { control, problems, slug, isTaken, onOffer } = props
  const wrong = slugProblem(slug)
  return (
    <div className="flex flex-col items-start gap-1.5 [&>*]:w-full">
      <Field
        hint="Lowercase letters, digits and dashes, such as dev-1. It cannot be changed later."
        label="Name"
        problem={isTaken ? `There is already an agent ${slug}.` : (wrong?.words ?? problems.$slug)}
      >
        <Controller
          control={control}
          name="$slug"
          render={({ field: { value, onChange } }) => (
            <TextInput
              autoComplete="off"
              onChange={onChange}
              spellCheck={false}
              value={String(value ?? '')}
            />
          )}
        />
      </Field>
      {wrong?.offer && (
        <span>
          <Button onClick={() => onOffer(wrong.offer!)} size="small">
            Use {wrong.offer.length > 40 ? `${wrong.offer.slice(0, 40)}…` : wrong.offer}
          </Button>
        </span>
      )}
    </div>
  )
}
