import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
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
