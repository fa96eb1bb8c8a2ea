import type { Roster } from './agent-notes.ts'
import { EdgesField } from './edges-field.tsx'
import { type FormOf, IdField, SwitchField, TextField } from './form-fields.tsx'
import { MoreFields } from './more-fields.tsx'
import { renamed, withTask } from './plan-changes.ts'
import { type PlanProblem, saidAt } from './plan-problems.ts'
import { idOf, type Json } from './plan-value.ts'
import { factsOf } from './row-facts.ts'
import type { PlanDrafting } from './use-plan-draft.ts'
import { ReviewFields, WhoFields } from './who-fields.tsx'

const MOST_SAID = 10

/** Fields that a form of a task shows; problems of others are said above it. */
const SHOWN = new Set([
  ...[
    'tempId',
    'title',
    'description',
    'successCriteria',
    'taskType',
    'agent',
    'contractor',
    'preferredAgent',
  ],
  ...['capabilities', 'dependsOn', 'triggerRule', 'verification', 'model', 'complexity', 'estimatedTokens'],
  ...['estimatedDurationMinutes', 'maxRetries', 'maxContinuations', 'priority', 'tags', 'systemPrompt'],
  ...['budget', 'timeouts', 'outputSchema', 'toolsRequested', 'input', 'optional', 'cancel', 'fresh'],
])

/** All fields of one task of the plan. */
export function TaskForm(props: {
  task: Json
  tasks: readonly Json[]
  at: number
  step: number
  edit: PlanDrafting['edit']
  problems: readonly PlanProblem[]
  roster: Roster
  isLocked: boolean
  isRunning: boolean
}) {
  const { task, tasks, at, step, edit, problems, roster, isLocked, isRunning } = props
  const form: FormOf = { task, problems, change: (change) => edit((plan) => withTask(plan, at, change)) }
  const others = problems.filter(({ field }) => field === null || !SHOWN.has(field))
  return (
    <fieldset
      aria-label={`Task ${at + 1}`}
      className="@container flex min-w-0 flex-col gap-4 p-4"
      disabled={isLocked}
    >
      <h3 className="truncate text-row font-medium">
        Task {at + 1}, step {step + 1}: {factsOf(task).name}
      </h3>
      {others.length > 0 && (
        <ul className="flex flex-col gap-1 text-row break-words text-bad" role="alert">
          {others.slice(0, MOST_SAID).map(({ words }) => (
            <li key={words}>{words}</li>
          ))}
          {others.length > MOST_SAID && <li>And {others.length - MOST_SAID} more.</li>}
        </ul>
      )}
      <TextField field="title" form={form} label="Title" placeholder={idOf(task)} />
      <TextField
        field="description"
        form={form}
        hint="What the agent needs to know. Markdown."
        label="Description"
        rows={4}
      />
      <TextField
        field="successCriteria"
        form={form}
        hint="What a reviewer checks."
        label="Done when"
        rows={2}
      />
      <WhoFields form={form} roster={roster} />
      <EdgesField at={at} form={form} tasks={tasks} />
      <ReviewFields form={form} roster={roster} />
      <SwitchField
        field="optional"
        form={form}
        hint="Its failure does not fail the mission."
        label="Optional"
      />
      {isRunning && (
        <SwitchField
          field="cancel"
          form={form}
          hint="Even if it was begun. Without this, work that was begun goes on."
          label="Cancel it"
        />
      )}
      <MoreFields
        form={form}
        roster={roster}
        id={
          <IdField
            onChange={(id) => edit((plan) => renamed(plan, at, id))}
            problem={saidAt(problems, 'tempId')}
            value={idOf(task)}
          />
        }
      />
    </fieldset>
  )
}
