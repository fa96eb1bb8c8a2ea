import type { ReactNode } from 'react'
import { type Control, Controller } from 'react-hook-form'
import type { FormValues, JsonSchema } from '../../forms/schema-fields.ts'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { Button } from '../../parts/button.tsx'
import { Field } from '../../parts/field.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { ProblemBox } from '../../parts/problem.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { useSession } from '../../requests/session.ts'
import { Checks } from '../../things/agent/checks.tsx'
import { RunsAsNotice } from '../../things/agent/runs-as.tsx'
import { useAdapters } from '../../things/agent/use-adapters.ts'
import { Conflict } from './conflict.tsx'
import { SETTING_WORDS } from './setting-words.ts'
import { settingsText } from './settings-draft.ts'
import { SettingsRead } from './settings-read.tsx'
import type { AgentRead } from './use-agent.ts'
import { useSettingsForm } from './use-settings-form.ts'

/** How an agent is set up. */
export function AgentSettings({ agent }: { agent: AgentRead }) {
  const { can } = useSession()
  const isPhone = useIsPhone()
  const adapters = useAdapters()
  const { data } = adapters
  if (!can('configure_agents'))
    return (
      <p className="p-6 text-row text-muted">
        Seeing the settings of agents needs the right to configure agents, which admins and owners have.
      </p>
    )
  if (!data) return <Loading className="px-6 py-3" read={adapters} rowHeight={64} rows={5} />
  const adapter = data.items.find(({ type }) => type === agent.adapterType)
  return isPhone ? (
    <SettingsRead agent={agent} schema={adapter?.configSchema}>
      <RunsAsNotice runsAs={adapter?.runsAs} />
    </SettingsRead>
  ) : (
    <SettingsForm agent={agent} schema={adapter?.configSchema}>
      <RunsAsNotice runsAs={adapter?.runsAs} />
    </SettingsForm>
  )
}

interface FormProps {
  agent: AgentRead
  schema: JsonSchema | undefined
  /** Before the fields. */
  children: ReactNode
}

function SettingsForm({ agent, schema, children }: FormProps) {
  const form = useSettingsForm(agent, schema)
  const { conflicting, isDirty } = form
  const whyNotSave = conflicting
    ? 'Choose which version to keep first.'
    : isDirty
      ? null
      : 'There is nothing to save.'
  return (
    <form
      className="min-h-0 flex-1 overflow-y-auto"
      onSubmit={(event) => {
        event.preventDefault()
        if (whyNotSave === null) form.save()
      }}
    >
      <div className="flex max-w-prose flex-col gap-4 px-6 pt-5 pb-4 max-sm:px-4">
        {children}
        <OwnField control={form.control} label="Name" name="$name" />
        <OwnField
          control={form.control}
          hint="Empty: any number."
          label="Tasks at once"
          name="$tasks"
          problem={form.problems.maxConcurrentTasks}
        />
        <OwnField
          control={form.control}
          hint="With commas between. Empty: any type. What is reserved for it may be of any type."
          label="Types of work"
          name="$types"
          problem={form.problems.taskTypes}
        />
        <SchemaForm
          control={form.control}
          fields={form.fields}
          problems={form.problems}
          words={SETTING_WORDS}
        />
        {form.refusal && <ProblemBox error={form.refusal} />}
        {conflicting && (
          <Conflict
            keep="Save mine over it"
            mine={settingsText(conflicting)}
            onKeep={form.save}
            onTakeSaved={form.undo}
            saved={settingsText(agent)}
            what="The settings"
          />
        )}
      </div>
      <div className="sticky bottom-0 flex flex-wrap items-center gap-2 border-t border-line bg-sunken px-6 py-3 max-sm:px-4">
        <Button busy={form.isSaving} disabledReason={whyNotSave} kind="primary" type="submit">
          Save
        </Button>
        <Button busy={form.isTesting} onClick={form.test}>
          Test
        </Button>
        {isDirty && (
          <Button kind="quiet" onClick={form.undo}>
            Undo changes
          </Button>
        )}
        {form.checks && (
          <div className="w-full min-w-0">
            <Checks probe={form.checks} />
          </div>
        )}
      </div>
    </form>
  )
}

/** A field of the agent itself, which all adapters have. */
function OwnField(props: {
  control: Control<FormValues>
  name: '$name' | '$tasks' | '$types'
  label: string
  hint?: string
  problem?: string | undefined
}) {
  const { control, name, label, hint, problem } = props
  return (
    <Field hint={hint} label={label} problem={problem}>
      <Controller
        control={control}
        name={name}
        render={({ field: { value, onChange } }) => (
          <TextInput autoComplete="off" onChange={onChange} spellCheck={false} value={String(value)} />
        )}
      />
    </Field>
  )
}
