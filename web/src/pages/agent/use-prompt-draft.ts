import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { DEFAULT_TEMPLATE } from '../../../../src/kinds/run/prompts/texts.ts'
import { draftOf, dropDraft, keepDraft } from '../../parts/drafts.ts'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import { type PromptBase, promptMeets, promptOf } from './settings-draft.ts'
import { type AgentRead, agentKey } from './use-agent.ts'

const isOutdated = (error: Error | null) => (error as { status?: number } | null)?.status === 412

/** The prompt of an agent while it is edited, and what happens when somebody else saves it in the meantime. */
export function usePromptDraft(agent: AgentRead) {
  const queries = useQueryClient()
  const now: PromptBase = { text: promptOf(agent), version: agent.version }
  const name = `prompt:${agent.slug}`
  const [kept] = useState(() => draftOf<{ text: string; base: PromptBase }>(name))
  const [text, setText] = useState(kept?.text ?? now.text)
  const [base, setBase] = useState(kept?.base ?? now)
  useEffect(() => {
    if (text === base.text) dropDraft(name)
    else keepDraft(name, { text, base })
  }, [name, text, base])
  const meets = promptMeets(base, agent, text)
  const take = () => {
    setBase(now)
    setText(now.text)
  }
  // What is not edited here follows what others save.
  if (meets === 'newer') take()
  const save = useAct(
    (promptTemplate: string) => {
      const { promptTemplate: _before, ...rest } = agent.adapterConfig ?? {}
      const adapterConfig = promptTemplate.trim() === '' ? rest : { ...rest, promptTemplate }
      return api().put('/agents/:id', {
        params: { id: agent.slug },
        body: { adapterConfig },
        ifMatch: `"${Math.max(agent.version, base.version)}"`,
      })
    },
    ({ slug, version }, sent) => {
      setBase({ text: sent, version })
      return `The prompt of ${slug} is saved.`
    },
    {
      right: 'configure_agents',
      // Somebody was faster. What they saved is read, and shown beside what is written here.
      onRefused: (error) =>
        isOutdated(error) && queries.invalidateQueries({ queryKey: agentKey(agent.slug), exact: true }),
    },
  )
  const isConflict = meets === 'conflict'
  return {
    text,
    setText,
    saved: now.text,
    isChanged: text !== base.text,
    isConflict,
    take,
    keepMine: () => setBase(now),
    save: () => save.run(text),
    isSaving: save.isBusy,
    refusal: isConflict && isOutdated(save.error) ? null : save.error,
  }
}

const PREVIEW_AFTER_MS = 300

/** The text once typing has paused for a moment. */
function useSettledText(text: string): string {
  const [settled, setSettled] = useState(text)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PREVIEW_AFTER_MS)
    return () => clearTimeout(timer)
  }, [text])
  return settled
}

/**
 * What the server says about the template of an agent: its problems, or the prompt for a sample task. Without a template of its
 * own, an agent has the default one.
 */
export function usePromptPreview(text: string, agent: string) {
  const settled = useSettledText(text)
  const isDefault = settled.trim() === ''
  const promptTemplate = isDefault ? DEFAULT_TEMPLATE : settled
  const { data, error, refetch } = useQuery({
    queryKey: ['prompt-preview', agent, promptTemplate],
    queryFn: ({ signal }) => api().post('/prompts/preview', { body: { promptTemplate, agent }, signal }),
    placeholderData: (before) => before,
    gcTime: 0,
  })
  // What is asked of the default one is not of what is written.
  const problems = isDefault ? NO_PROBLEMS : (data?.problems ?? NO_PROBLEMS)
  return { isDefault, answer: data, problems, error, retry: () => void refetch() }
}

const NO_PROBLEMS: readonly { message: string; line: number; column: number }[] = []

/** The variables of templates. They change only when the server restarts. */
export function usePromptVariables() {
  const { data } = useQuery({
    queryKey: ['prompt-variables'],
    queryFn: ({ signal }) => api().get('/prompts/variables', { signal }),
  })
  return data?.items ?? NO_VARIABLES
}

const NO_VARIABLES: readonly { path: string; description: string; sensitive: boolean }[] = []
