import { type Control, useController, useWatch } from 'react-hook-form'
import type { FormValues } from '../../forms/schema-fields.ts'
import { useComesNear } from '../../parts/use-comes-near.ts'
import { PromptEditor } from './prompt-editor.tsx'
import { PromptPreview } from './prompt-preview.tsx'
import { usePromptPreview } from './use-prompt-preview.ts'

const NAME = 'promptTemplate'

/** The prompt in the form of a new agent, with what the agent would read by what the form says of it so far. */
export function PromptSection(props: {
  control: Control<FormValues>
  problems: Readonly<Record<string, string>>
}) {
  const { control, problems } = props
  const { field } = useController({ control, name: NAME })
  const [slug, title, role] = useWatch({ control, name: ['$slug', '$title', '$role'] }).map((value) =>
    String(value ?? '').trim(),
  )
  const text = String(field.value ?? '')
  // It is far down the form, and most agents are made without a look at it.
  const { ref, isNear } = useComesNear<HTMLElement>()
  const newAgent = { ...(slug && { slug }), ...(title && { title }), ...(role && { role }) }
  const preview = usePromptPreview(text, { newAgent }, isNear)
  return (
    <section aria-label="Prompt" className="flex flex-col gap-4 border-t border-line pt-4" ref={ref}>
      <h2 className="text-title font-semibold">Prompt</h2>
      <PromptEditor
        heading="h3"
        hint="Tab leaves the editor."
        label="Template"
        onText={field.onChange}
        preview={preview}
        problem={problems[NAME]}
        text={text}
      >
        {isNear && <PromptPreview heading="h3" isBounded preview={preview} />}
      </PromptEditor>
    </section>
  )
}
