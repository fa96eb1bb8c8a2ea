import { useShortcuts } from '../../keys/shortcuts.ts'
import { Button } from '../../parts/button.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { useSession } from '../../requests/session.ts'
import { Conflict } from './conflict.tsx'
import { PromptEditor } from './prompt-editor.tsx'
import { PromptPreview } from './prompt-preview.tsx'
import type { AgentRead } from './use-agent.ts'
import { usePromptDraft } from './use-prompt-draft.ts'
import { usePromptPreview } from './use-prompt-preview.ts'

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
  const preview = usePromptPreview(text, { agent: agent.slug })
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
      <PromptEditor
        heading="h2"
        hint="Tab leaves the editor, Ctrl Enter saves."
        label="Template"
        onText={draft.setText}
        preview={preview}
        text={text}
      >
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
      </PromptEditor>
      <PromptPreview heading="h2" preview={preview} />
    </div>
  )
}
