import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { Field } from '../../parts/field.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { agentNamesQuery, projectNamesQuery } from '../../requests/names.ts'
import type { HookDraft } from './hook-draft.ts'

interface Part {
  draft: HookDraft
  onChange: (change: Partial<HookDraft>) => void
}

const PUT_IN = '{{/issue/title}} is replaced by what the payload has there, marked as material.'

/** What a delivery does. */
export function DoesFields({ draft, onChange }: Part) {
  return (
    <>
      <div className="flex flex-col gap-1">
        <p className="text-row font-medium">A delivery</p>
        <Segmented
          label="What a delivery does"
          onChange={(kind) => onChange({ kind })}
          options={[
            { value: 'task', words: 'creates a task' },
            { value: 'routine', words: 'starts a routine' },
            { value: 'wake', words: 'wakes an agent' },
          ]}
          size="usual"
          value={draft.kind}
        />
      </div>
      {draft.kind === 'task' && <TaskFields draft={draft} onChange={onChange} />}
      {draft.kind === 'routine' && <RoutineFields draft={draft} onChange={onChange} />}
      {draft.kind === 'wake' && <WakeFields draft={draft} onChange={onChange} />}
    </>
  )
}

function TaskFields({ draft, onChange }: Part) {
  const { data: projects } = useQuery(projectNamesQuery)
  return (
    <>
      <Field hint={PUT_IN} label="Title">
        <TextInput
          maxLength={500}
          onChange={(event) => onChange({ title: event.target.value })}
          value={draft.title}
        />
      </Field>
      <Field hint="What is to be done with it. The whole payload is its input." label="Description">
        <TextInput
          onChange={(event) => onChange({ description: event.target.value })}
          rows={3}
          value={draft.description}
        />
      </Field>
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <AgentField draft={draft} label="Only for" none="Any agent" onChange={onChange} />
        <Field label="Project">
          <Select
            onChange={(project) => onChange({ project })}
            options={[
              { value: '', words: 'No project' },
              ...(projects?.items ?? []).map(({ slug }) => ({ value: slug, words: slug })),
            ]}
            value={draft.project}
          />
        </Field>
      </div>
    </>
  )
}

function WakeFields({ draft, onChange }: Part) {
  return (
    <>
      <AgentField draft={draft} label="Agent" none="Choose an agent" onChange={onChange} />
      <Field hint={PUT_IN} label="What it is to do">
        <TextInput
          maxLength={2_000}
          onChange={(event) => onChange({ reason: event.target.value })}
          rows={3}
          value={draft.reason}
        />
      </Field>
    </>
  )
}

function AgentField({ draft, onChange, label, none }: Part & { label: string; none: string }) {
  const { data: agents } = useQuery(agentNamesQuery)
  return (
    <Field label={label}>
      <Select
        onChange={(agent) => onChange({ agent })}
        options={[
          { value: '', words: none },
          ...(agents?.items ?? []).map(({ slug }) => ({ value: slug, words: slug })),
        ]}
        value={draft.agent}
      />
    </Field>
  )
}

/** The names in its schema. */
const variablesOf = (schema: unknown): string[] => {
  if (schema === null || typeof schema !== 'object' || !('properties' in schema)) return []
  const { properties } = schema
  return properties !== null && typeof properties === 'object' ? Object.keys(properties) : []
}

function RoutineFields({ draft, onChange }: Part) {
  const heading = useId()
  const { data } = useQuery({
    queryKey: ['routine-names'],
    queryFn: ({ signal }) => api().get('/routines', { query: { limit: '200' }, signal }),
    staleTime: 60_000,
  })
  const routines = data?.items ?? []
  const variables = variablesOf(routines.find(({ id }) => id === draft.routine)?.variables)
  return (
    <>
      <Field label="Routine">
        <Select
          onChange={(routine) => onChange({ routine, variables: {} })}
          options={[
            { value: '', words: 'Choose a routine' },
            ...routines.map(({ id, name }) => ({ value: id, words: name })),
          ]}
          value={draft.routine}
        />
      </Field>
      {variables.length > 0 && (
        // biome-ignore lint/a11y/useSemanticElements: its heading is no legend, which a grid cannot place
        <div aria-labelledby={heading} className="flex flex-col gap-2" role="group">
          <p className="text-row font-medium" id={heading}>
            Its variables, each from a place in the payload
          </p>
          <div className="grid grid-cols-2 gap-3 max-sm:grid-cols-1">
            {variables.map((name) => (
              <Field key={name} label={name}>
                <TextInput
                  autoComplete="off"
                  className="font-mono"
                  onChange={(event) =>
                    onChange({ variables: { ...draft.variables, [name]: event.target.value } })
                  }
                  placeholder="/issue/title"
                  spellCheck={false}
                  value={draft.variables[name] ?? ''}
                />
              </Field>
            ))}
          </div>
        </div>
      )}
    </>
  )
}
