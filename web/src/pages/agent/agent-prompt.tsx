import { lazy, Suspense, useId, useRef } from 'react'
import { DEFAULT_TEMPLATE } from '../../../../src/kinds/run/prompts/texts.ts'
import type { TemplateEditorHandle } from '../../forms/template-editor.tsx'
import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { IconButton } from '../../parts/icon-button.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { useSession } from '../../requests/session.ts'
import { Conflict } from './conflict.tsx'
import { PromptNotes } from './prompt-notes.tsx'
import { PromptPreview } from './prompt-preview.tsx'
import { PromptVariables } from './prompt-variables.tsx'
import type { AgentRead } from './use-agent.ts'
import { usePromptDraft, usePromptPreview, usePromptVariables } from './use-prompt-draft.ts'

const TemplateEditor = lazy(() =>
  import('../../forms/template-editor.tsx').then(({ TemplateEditor }) => ({ default: TemplateEditor })),
)

/** The prompt of an agent: its template, the variables, and what it would read, with sensitive values left out. */
export function AgentPrompt({ agent }: { agent: AgentRead }) {
  const { can } = useSession()
  if (can('configure_agents')) return <PromptForm agent={agent} />
  return (
    <p className="p-6 text-row text-muted">
      Seeing the prompts of agents needs the right to configure agents, which admins and owners have.
    </p>
  )
}

function PromptForm({ agent }: { agent: AgentRead }) {
  const draft = usePromptDraft(agent)
  const { text, isConflict } = draft
  const preview = usePromptPreview(text, agent.slug)
  const isDefault = text.trim() === ''
  const variables = usePromptVariables()
  const editor = useRef<TemplateEditorHandle>(null)
  const id = useId()
  const whyNotSave = isConflict
    ? 'Choose which version to keep first.'
    : !draft.isChanged
      ? 'There is nothing to save.'
      : preview.problems.length > 0
        ? 'Fix what is underlined first.'
        : null
  useShortcuts('Prompt', {
    'Mod+Enter': { words: 'Save the prompt', run: draft.save, isOff: whyNotSave !== null },
  })
  return (
    <div className="grid min-h-0 flex-1 auto-rows-max gap-6 overflow-y-auto px-6 py-5 max-sm:px-4 lg:grid-cols-[minmax(0,1.15fr)_minmax(0,1fr)]">
      <div className="flex min-w-0 flex-col gap-3">
        <div className="flex items-center gap-1">
          <h2 className="flex-1 text-row font-medium" id={`${id}-label`}>
            Template
          </h2>
          <IconButton icon="undo" label="Undo" onClick={() => editor.current?.undo()} size="small" />
          <IconButton icon="redo" label="Redo" onClick={() => editor.current?.redo()} size="small" />
        </div>
        <Suspense fallback={<Skeleton label="The editor is loading" rowHeight={24} rows={10} />}>
          <TemplateEditor
            describedBy={`${id}-hint ${id}-notes`}
            empty={DEFAULT_TEMPLATE}
            labelledBy={`${id}-label`}
            onChange={draft.setText}
            problems={preview.problems}
            ref={editor}
            value={text}
            variables={variables}
          />
        </Suspense>
        {isDefault && (
          <p className="flex flex-wrap items-center gap-3 text-row">
            It has the default prompt, which stands in grey.
            <Button onClick={() => draft.setText(DEFAULT_TEMPLATE)} size="small">
              Start from it
            </Button>
          </p>
        )}
        <p className="text-label text-muted" id={`${id}-hint`}>
          Type {'{{'} for a variable. Backspace removes a whole one. Tab leaves the editor, Ctrl Enter saves.
        </p>
        <PromptNotes
          id={`${id}-notes`}
          onGoTo={(position) => editor.current?.goTo(position)}
          problems={preview.problems}
          text={text}
          variables={variables}
        />
        {draft.refusal && <ProblemBox error={draft.refusal} />}
        {isConflict && (
          <Conflict
            keep="Keep mine"
            mine={draft.text}
            onKeep={draft.keepMine}
            onTakeSaved={draft.take}
            saved={draft.saved}
            what="The prompt"
          />
        )}
        <div className="flex flex-wrap gap-2">
          <Button busy={draft.isSaving} disabledReason={whyNotSave} kind="primary" onClick={draft.save}>
            Save
          </Button>
          {draft.isChanged && !isConflict && (
            <Button kind="quiet" onClick={draft.take}>
              Undo changes
            </Button>
          )}
        </div>
        <PromptVariables onInsert={(path) => editor.current?.insert(`{{${path}}}`)} variables={variables} />
      </div>
      <PromptPreview preview={preview} />
    </div>
  )
}
