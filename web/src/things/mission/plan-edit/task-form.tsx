import type { Roster } from './agent-notes.ts'
import { EdgesField } from './edges-field.tsx'
import { type FormOf, IdField, SwitchField, TextField, WordsField } from './form-fields.tsx'
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
  ...['budget', 'timeouts'],
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
        hasProblem={problems.some(({ field }) => field !== null && RARE.has(field))}
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

const RARE = new Set([
  ...[
    'tempId',
    'taskType',
    'model',
    'complexity',
    'estimatedTokens',
    'estimatedDurationMinutes',
    'maxRetries',
  ],
  ...['maxContinuations', 'priority', 'tags', 'systemPrompt', 'budget', 'timeouts'],
])

const GRID = 'grid grid-cols-2 gap-3 @max-[420px]:grid-cols-1'

/** What most tasks leave to the mission. */
function MoreFields({ form, hasProblem, id }: { form: FormOf; hasProblem: boolean; id: React.ReactNode }) {
  const number = (field: string, label: string, placeholder = '', group?: string, saysProblem = true) => (
    <TextField
      field={field}
      form={form}
      isNumber
      label={label}
      placeholder={placeholder}
      saysProblem={saysProblem}
      {...(group === undefined ? {} : { group })}
    />
  )
  return (
    <details className="rounded-card border border-line" open={hasProblem || undefined}>
      <summary className="px-3 py-2 text-row font-medium text-muted hover:text-ink">
        Id, type, estimates and limits
      </summary>
      <div className="flex flex-col gap-4 px-3 pt-1 pb-4">
        <div className={GRID}>
          {id}
          <TextField field="taskType" form={form} label="Type" placeholder="other" />
          <TextField field="model" form={form} label="Model" placeholder="the agent’s" />
          {number('priority', 'Priority', 'the mission’s')}
        </div>
        <h4 className="text-label font-medium text-muted">Estimates</h4>
        <div className={GRID}>
          {number('estimatedDurationMinutes', 'Minutes')}
          {number('complexity', 'Complexity, 1 to 10', '5')}
          {number('estimatedTokens', 'Tokens')}
        </div>
        <h4 className="text-label font-medium text-muted">Limits</h4>
        <div className={GRID}>
          <TextField field="maxUsd" form={form} group="budget" label="Budget in dollars" placeholder="none" />
          {number('maxTokens', 'Budget in tokens', 'none', 'budget', false)}
          {number('maxRetries', 'Retries', '3')}
          {number('maxContinuations', 'Continuations')}
          {number('attemptSeconds', 'Seconds for one attempt', '', 'timeouts')}
          {number('deadlineSeconds', 'Seconds for all attempts', '', 'timeouts', false)}
          {number('stallSeconds', 'Longest silence in seconds', '', 'timeouts', false)}
          {number('verifySeconds', 'Seconds for its review', '', 'timeouts', false)}
          {number('assignSeconds', 'Seconds until it starts', '', 'timeouts', false)}
        </div>
        <WordsField field="tags" form={form} label="Tags" />
        <TextField
          field="systemPrompt"
          form={form}
          hint="Before all else that the agent is told."
          label="System prompt"
          rows={3}
        />
        <SwitchField
          field="fresh"
          form={form}
          hint="Without the work of earlier attempts."
          label="Each attempt starts over"
        />
        <p className="text-label text-muted">Its output schema, tools and input are edited in the YAML.</p>
      </div>
    </details>
  )
}
