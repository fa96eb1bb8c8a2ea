import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { AskDialog } from '../../../parts/ask-dialog.tsx'
import { Field } from '../../../parts/field.tsx'
import { Segmented } from '../../../parts/segmented.tsx'
import { Select } from '../../../parts/select.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { agentNamesQuery } from '../../../requests/names.ts'
import { isOwnAgent } from '../../agent/own-agent.ts'
import { PRIORITIES } from '../card-words.ts'
import { tagsIn } from '../form/draft.ts'
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

export function AskType({ about, onClose, send }: Asking) {
  const [taskType, setTaskType] = useState('')
  return (
    <AskDialog
      confirm="Change type"
      missing={taskType.trim() === '' ? 'A type is needed.' : null}
      onClose={onClose}
      onConfirm={() => send({ act: 'type', taskType: taskType.trim() })}
      text="Agents may take only some types. A task that an agent is working on keeps its type."
      title={`Type of ${about.name}`}
    >
      <Field label="Type">
        <TextInput
          onChange={(event) => setTaskType(event.target.value)}
          placeholder="coding"
          value={taskType}
        />
      </Field>
    </AskDialog>
  )
}

export function AskTags({ about, onClose, send }: Asking) {
  const [words, setWords] = useState({ add: '', remove: '' })
  const [add, remove] = [tagsIn(words.add), tagsIn(words.remove)]
  return (
    <AskDialog
      confirm="Change tags"
      missing={add.length + remove.length === 0 ? 'Name a tag to add or to remove.' : null}
      onClose={onClose}
      onConfirm={() => send({ act: 'tags', add, remove })}
      text="Other tags stay as they are."
      title={`Tags of ${about.name}`}
    >
      <Field hint="Separated by commas." label="Add">
        <TextInput
          onChange={(event) => setWords({ ...words, add: event.target.value })}
          placeholder="docs, urgent"
          value={words.add}
        />
      </Field>
      <Field label="Remove">
        <TextInput
          onChange={(event) => setWords({ ...words, remove: event.target.value })}
          value={words.remove}
        />
      </Field>
    </AskDialog>
  )
}
