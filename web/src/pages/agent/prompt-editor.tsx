import { lazy, type ReactNode, Suspense, useId, useRef } from 'react'
import { DEFAULT_TEMPLATE } from '../../../../src/kinds/run/prompts/texts.ts'
import { PROMPT_VARIABLES } from '../../../../src/kinds/run/prompts/variables.ts'
import type { TemplateEditorHandle } from '../../forms/template-editor.tsx'
import { Button } from '../../parts/button.tsx'
import { FieldProblem } from '../../parts/field.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { PromptNotes } from './prompt-notes.tsx'
import { PromptVariables } from './prompt-variables.tsx'
import type { PromptPreviewing } from './use-prompt-preview.ts'

const TemplateEditor = lazy(() =>
  import('../../forms/template-editor.tsx').then(({ TemplateEditor }) => ({ default: TemplateEditor })),
)

/** A prompt while it is written: its template, what is wrong or risky in it, and its variables. Empty, it is the default prompt. */
export function PromptEditor(props: {
  text: string
  onText: (text: string) => void
  preview: PromptPreviewing
  /** What it is called here, and how deep its heading is. */
  label: string
  heading: 'h2' | 'h3'
  hint: string
  /** What the form says of it, besides what is underlined. */
  problem?: string | null | undefined
  /** Above the variables, such as what saves it, or what the agent would read. */
  children?: ReactNode
}) {
  const { text, onText, preview, label, heading: Heading, hint, problem, children } = props
  const editor = useRef<TemplateEditorHandle>(null)
  const id = useId()
  const describedBy = [`${id}-hint`, `${id}-notes`, ...(problem ? [`${id}-problem`] : [])].join(' ')
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex items-center gap-1">
        <Heading className="flex-1 text-row font-medium" id={`${id}-label`}>
          {label}
        </Heading>
        <IconButton icon="undo" label="Undo" onClick={() => editor.current?.undo()} size="small" />
        <IconButton icon="redo" label="Redo" onClick={() => editor.current?.redo()} size="small" />
      </div>
      <Suspense fallback={<Skeleton label="The editor is loading" rowHeight={24} rows={10} />}>
        <TemplateEditor
          describedBy={describedBy}
          empty={DEFAULT_TEMPLATE}
          labelledBy={`${id}-label`}
          onChange={onText}
          problems={preview.problems}
          ref={editor}
          value={text}
          variables={PROMPT_VARIABLES}
        />
      </Suspense>
      {problem && <FieldProblem id={`${id}-problem`}>{problem}</FieldProblem>}
      {text.trim() === '' && (
        <p className="flex flex-wrap items-center gap-3 text-row">
          The default prompt is used, shown in grey.
          <Button onClick={() => onText(DEFAULT_TEMPLATE)} size="small">
            Start from it
          </Button>
        </p>
      )}
      <p className="text-label text-muted" id={`${id}-hint`}>
        Type {'{{'} for a variable. Backspace removes a whole one. {hint}
      </p>
      <PromptNotes
        id={`${id}-notes`}
        onGoTo={(position) => editor.current?.goTo(position)}
        problems={preview.problems}
        text={text}
        variables={PROMPT_VARIABLES}
      />
      {children}
      <PromptVariables
        heading={Heading}
        onInsert={(path) => editor.current?.insert(`{{${path}}}`)}
        variables={PROMPT_VARIABLES}
      />
    </div>
  )
}
