import type { ReactNode } from 'react'
import type { Roster } from './agent-notes.ts'
import { type FormOf, GRID, GroupProblem, SwitchField, TextField, WordsField } from './form-fields.tsx'
import { JsonField } from './json-field.tsx'
import { ContractorFields } from './who-fields.tsx'

const BUDGET = ['maxUsd', 'maxTokens']
const TIMEOUTS = {
  attemptSeconds: 'Seconds for one attempt',
  deadlineSeconds: 'Seconds for all attempts',
  assignSeconds: 'Seconds until it starts',
  stallSeconds: 'Longest silence in seconds',
  hangGraceSeconds: 'Seconds over its estimate',
  hangAbortSeconds: 'Then, seconds without progress',
  verifySeconds: 'Seconds for its review',
}

/** Open when one of them has a problem. */
const RARE = new Set([
  ...['tempId', 'taskType', 'model', 'priority', 'tags', 'contractor'],
  ...['estimatedDurationMinutes', 'complexity', 'estimatedTokens'],
  ...['budget', 'timeouts', 'maxRetries', 'maxContinuations', 'fresh'],
  ...['systemPrompt', 'toolsRequested', 'outputSchema', 'input'],
])

const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title} className="flex min-w-0 flex-col gap-3">
    <h4 className="text-label font-medium text-muted">{title}</h4>
    {children}
  </section>
)

/** What most tasks leave to the mission. */
export function MoreFields({ form, roster, id }: { form: FormOf; roster: Roster; id: ReactNode }) {
  const hasProblem = form.problems.some(({ field }) => field !== null && RARE.has(field))
  const number = (field: string, label: string, placeholder = '') => (
    <TextField field={field} form={form} isNumber label={label} placeholder={placeholder} />
  )
  return (
    <details className="rounded-card border border-line" open={hasProblem || undefined}>
      <summary className="px-3 py-2 text-row font-medium text-muted hover:text-ink">
        Id, type, instructions, estimates and limits
      </summary>
      <div className="flex flex-col gap-4 px-3 pt-1 pb-4">
        <div className={GRID}>
          {id}
          <TextField field="taskType" form={form} label="Type" placeholder="other" />
          <TextField field="model" form={form} label="Model" placeholder="the agent’s" />
          {number('priority', 'Priority', 'the mission’s')}
        </div>
        <WordsField field="tags" form={form} label="Tags" />
        <ContractorFields form={form} roster={roster} />
        <Part title="What it is told, gets and makes">
          <TextField
            field="systemPrompt"
            form={form}
            hint="Before all else that the agent is told."
            label="System prompt"
            rows={3}
          />
          <WordsField
            field="toolsRequested"
            form={form}
            hint="As its agent’s program names them, such as Read or WebFetch."
            label="Tools"
          />
          <JsonField
            field="input"
            form={form}
            hint="What it works on: JSON, or plain text."
            label="Input"
            note="It is handed over as text: this cannot be read as JSON."
          />
          <JsonField
            field="outputSchema"
            form={form}
            hint="A JSON Schema: a result of another form is refused."
            label="Output schema"
          />
        </Part>
        <Part title="Estimates">
          <div className={GRID}>
            {number('estimatedDurationMinutes', 'Minutes')}
            {number('complexity', 'Complexity, 1 to 10', '5')}
            {number('estimatedTokens', 'Tokens')}
          </div>
        </Part>
        <Part title="Limits">
          <GroupProblem form={form} group="budget" shown={BUDGET} />
          <GroupProblem form={form} group="timeouts" shown={Object.keys(TIMEOUTS)} />
          <div className={GRID}>
            <TextField
              field="maxUsd"
              form={form}
              group="budget"
              label="Budget in dollars"
              placeholder="none"
            />
            <TextField
              field="maxTokens"
              form={form}
              group="budget"
              isNumber
              label="Budget in tokens"
              placeholder="none"
            />
            {number('maxRetries', 'Retries', '3')}
            {number('maxContinuations', 'Continuations')}
            {Object.entries(TIMEOUTS).map(([field, label]) => (
              <TextField field={field} form={form} group="timeouts" isNumber key={field} label={label} />
            ))}
          </div>
          <SwitchField
            field="fresh"
            form={form}
            hint="Without the work of earlier attempts."
            label="Each attempt starts over"
          />
        </Part>
      </div>
    </details>
  )
}
