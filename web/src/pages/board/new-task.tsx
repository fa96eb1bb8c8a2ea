import { useQuery } from '@tanstack/react-query'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { agentNamesQuery } from '../../requests/names.ts'
import { isOwnAgent } from '../../things/agent/own-agent.ts'
import { PRIORITIES } from '../../things/task/card-words.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { DependsOn } from './depends-on.tsx'
import { bodyOf, type Draft, EMPTY_DRAFT, problemsIn, VERIFICATIONS } from './draft.ts'
import { projectsQuery } from './queries.ts'

interface Props {
  onClose: () => void
  /** The board shows one project: a task made there belongs to it. */
  project: string | undefined
}

/** Creates a task. A title is enough; what the server does not accept is shown at its field. */
export function NewTask({ onClose, project }: Props) {
  const written = useDraft<Draft>('new-task', { ...EMPTY_DRAFT, project: project ?? '' })
  const { value: draft, set: setDraft } = written
  const go = useGo()
  const discard = () => {
    written.drop()
    onClose()
  }
  const create = useAct(
    () => api().post('/tasks', { body: bodyOf(draft) }),
    ({ id, title }) => {
      discard()
      const act = { words: 'Open', run: () => go(`/board?task=${id}`) }
      return { title: 'Task created.', text: title, act }
    },
    { onRefused: shownInPlace },
  )
  const { byField, rest } = problemsIn(create.error)
  const set = (change: Partial<Draft>) => setDraft((before) => ({ ...before, ...change }))
  const refused = create.whyNot ?? (draft.title.trim() === '' ? 'A title is needed.' : null)
  const submit = () => refused === null && !create.isBusy && create.run()
  return (
    <Dialog
      actions={
        <>
          {written.isKept && (
            <Button kind="quiet" onClick={discard}>
              Discard
            </Button>
          )}
          <Button onClick={onClose}>Close</Button>
          <Button
            busy={create.isBusy}
            disabledReason={refused}
            kind="primary"
            onClick={submit}
            shortcut="Ctrl Enter"
          >
            Create task
          </Button>
        </>
      }
      onClose={onClose}
      open
      title="New task"
    >
      <form
        className="flex flex-col gap-4"
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) submit()
        }}
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        {rest !== null && <ProblemBox error={rest} />}
        <Field label="Title" problem={byField.title}>
          <TextInput
            autoComplete="off"
            maxLength={500}
            onChange={(event) => set({ title: event.target.value })}
            value={draft.title}
          />
        </Field>
        <Field hint="What the agent needs to know." label="Description" problem={byField.description}>
          <TextInput
            onChange={(event) => set({ description: event.target.value })}
            rows={4}
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
        <Details byField={byField} draft={draft} set={set} />
      </form>
    </Dialog>
  )
}

interface DetailProps {
  draft: Draft
  byField: Partial<Record<string, string>>
  set: (change: Partial<Draft>) => void
}

function Details({ draft, byField, set }: DetailProps) {
  const { data: agents } = useQuery(agentNamesQuery)
  const { data: projects } = useQuery(projectsQuery)
  const slugs = new Set((projects?.items ?? []).map(({ slug }) => slug))
  if (draft.project !== '') slugs.add(draft.project)
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field label="Agent" problem={byField.agent}>
        <Select
          onChange={(agent) => set({ agent })}
          options={[
            { value: '', words: 'Any agent' },
            ...(agents?.items ?? [])
              .filter(({ slug }) => !isOwnAgent(slug))
              .map(({ slug }) => ({ value: slug, words: slug })),
          ]}
          value={draft.agent}
        />
      </Field>
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
      <Field label="Type" problem={byField.taskType}>
        <TextInput
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
      <Field label="Result reviewed by" problem={byField.verification}>
        <Select
          onChange={(verification) => set({ verification })}
          options={VERIFICATIONS.map(({ value, words }) => ({ value, words }))}
          value={draft.verification}
        />
      </Field>
      <Field label="Retries" problem={byField.maxRetries}>
        <TextInput
          inputMode="numeric"
          onChange={(event) => set({ maxRetries: event.target.value })}
          placeholder="3"
          value={draft.maxRetries}
        />
      </Field>
      <div className="col-span-full">
        <DependsOn
          chosen={draft.dependsOn}
          onChange={(dependsOn) => set({ dependsOn })}
          problem={byField.dependsOn}
        />
      </div>
    </div>
  )
}
