import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { Field } from '../../../parts/field.tsx'
import { Segmented } from '../../../parts/segmented.tsx'
import { Select } from '../../../parts/select.tsx'
import { agentNamesQuery } from '../../../requests/names.ts'
import { isOwnAgent } from '../../agent/own-agent.ts'
import { PRIORITIES } from '../card-words.ts'
import type { Asking } from './asked-first.ts'

/** Dialogs that ask for the value of a change. */

export function AskPriority({ about, onClose, send }: Asking) {
  const [priority, setPriority] = useState(String(about.one?.priority ?? 5))
  return (
    <AskDialog
      confirm="Change priority"
      onClose={onClose}
      onConfirm={() => send({ act: 'priority', priority: Number(priority) })}
      text="10 is the most urgent. Among equals the oldest comes first."
      title={`Priority of ${about.name}`}
    >
      <Segmented
        label="Priority"
        onChange={setPriority}
        options={PRIORITIES.map((one) => ({ value: String(one), words: String(one) }))}
        size="usual"
        value={priority}
      />
    </AskDialog>
  )
}

export function AskAgent({ about, onClose, send }: Asking) {
  const [agent, setAgent] = useState(about.one?.agent ?? '')
  const { data } = useQuery(agentNamesQuery)
  const others = data?.items.filter(({ slug }) => !isOwnAgent(slug)) ?? []
  const slugs = new Set([...others.map(({ slug }) => slug), ...(agent ? [agent] : [])])
  return (
    <AskDialog
      confirm="Change agent"
      onClose={onClose}
      onConfirm={() => send({ act: 'agent', agent: agent === '' ? null : agent })}
      text="Then only this agent may work on it. If another agent holds it, that agent loses it."
      title={`Agent of ${about.name}`}
    >
      <Field label="Agent">
        <Select
          onChange={setAgent}
          options={[
            { value: '', words: 'Any agent' },
            ...[...slugs].sort().map((slug) => ({ value: slug, words: slug })),
          ]}
          value={agent}
        />
      </Field>
    </AskDialog>
  )
}
