import { useQuery } from '@tanstack/react-query'
import { Field } from '../../../parts/field.tsx'
import { Segmented } from '../../../parts/segmented.tsx'
import { Select } from '../../../parts/select.tsx'
import { TextInput } from '../../../parts/text-input.tsx'
import { agentNamesQuery, projectNamesQuery } from '../../../requests/names.ts'
import { isOwnAgent } from '../../agent/own-agent.ts'
import { LimitFields } from '../../budget/limit-fields.tsx'
import { PRIORITIES } from '../card-words.ts'
import { DependsOn } from './depends-on.tsx'
import { type Draft, VERIFICATIONS } from './draft.ts'

interface Props {
  draft: Draft
  byField: Partial<Record<string, string>>
  set: (change: Partial<Draft>) => void
  /** An existing task keeps its project and who judges it. */
  isNew: boolean
  /** Why its type stays. */
  whyNotType?: string | null
  /** Why what it depends on stays. */
  whyNotDependsOn?: string | null
}

/** The fields of a task, new or not. */
export function TaskFields(props: Props) {
  const { draft, byField, set } = props
  return (
    <>
      <Field label="Title" problem={byField.title}>
        <TextInput
          autoComplete="off"
          maxLength={500}
          onChange={(event) => set({ title: event.target.value })}
          value={draft.title}
        />
      </Field>
      <Field hint="What the agent needs to know. Markdown." label="Description" problem={byField.description}>
        <TextInput
          onChange={(event) => set({ description: event.target.value })}
          rows={5}
          value={draft.description}
        />
      </Field>
      <div className="flex flex-col items-start gap-1">
        <p className="text-row font-medium">Priority</p>
        <Segmented
          label="Priority"
          onChange={(priority) => set({ priority })}
          options={PRIORITIES.map((one) => ({ value: String(one), words: String(one) }))}
          size="usual"
          value={draft.priority}
        />
        <p className="text-label text-muted">10 is the most urgent.</p>
      </div>
      <Details {...props} />
    </>
  )
}

function Details({ draft, byField, set, isNew, whyNotType, whyNotDependsOn }: Props) {
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <AgentField byField={byField} draft={draft} set={set} />
      {isNew && <ProjectField byField={byField} draft={draft} set={set} />}
      <Field hint={whyNotType} label="Type" problem={byField.taskType}>
        <TextInput
          disabled={Boolean(whyNotType)}
          onChange={(event) => set({ taskType: event.target.value })}
          placeholder="other"
          value={draft.taskType}
        />
      </Field>
      <Field label="Tags" problem={byField.tags}>
        <TextInput
          onChange={(event) => set({ tags: event.target.value })}
          placeholder="docs, urgent"
          value={draft.tags}
        />
      </Field>
      {isNew && (
        <Field label="Result reviewed by" problem={byField.verification}>
          <Select
            onChange={(verification) => set({ verification })}
            options={VERIFICATIONS.map(({ value, words }) => ({ value, words }))}
            value={draft.verification}
          />
        </Field>
      )}
      <Field label="Retries" problem={byField.maxRetries}>
        <TextInput
          inputMode="numeric"
          onChange={(event) => set({ maxRetries: event.target.value })}
          placeholder="3"
          value={draft.maxRetries}
        />
      </Field>
      <div className="col-span-full">
        <LimitFields
          labels={{ usd: 'Budget in dollars', tokens: 'Budget in tokens' }}
          limits={{ usd: draft.budgetUsd ?? '', tokens: draft.budgetTokens ?? '' }}
          onChange={({ usd, tokens }) => set({ budgetUsd: usd, budgetTokens: tokens })}
          refused={{ usd: byField.budgetUsd ?? null, tokens: byField.budgetTokens ?? null }}
        />
      </div>
      <div className="col-span-full">
        <DependsOn
          chosen={draft.dependsOn}
          onChange={(dependsOn) => set({ dependsOn })}
          problem={byField.dependsOn}
          whyNot={whyNotDependsOn ?? null}
        />
      </div>
    </div>
  )
}

type FieldProps = Pick<Props, 'draft' | 'byField' | 'set'>

function AgentField({ draft, byField, set }: FieldProps) {
  const { data } = useQuery(agentNamesQuery)
  const slugs = new Set((data?.items ?? []).map(({ slug }) => slug).filter((slug) => !isOwnAgent(slug)))
  // It may be reserved for one that is not there yet.
  if (draft.agent !== '') slugs.add(draft.agent)
  return (
    <Field label="Agent" problem={byField.agent}>
      <Select
        onChange={(agent) => set({ agent })}
        options={[
          { value: '', words: 'Any agent' },
          ...[...slugs].sort().map((slug) => ({ value: slug, words: slug })),
        ]}
        value={draft.agent}
      />
    </Field>
  )
}

function ProjectField({ draft, byField, set }: FieldProps) {
  const { data } = useQuery(projectNamesQuery)
  const slugs = new Set((data?.items ?? []).map(({ slug }) => slug))
  if (draft.project !== '') slugs.add(draft.project)
  return (
    <Field label="Project" problem={byField.project}>
      <Select
        onChange={(project) => set({ project })}
        options={[
          { value: '', words: 'No project' },
          ...[...slugs].map((slug) => ({ value: slug, words: slug })),
        ]}
        value={draft.project}
      />
    </Field>
  )
}
