import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { JsonSchema } from '../../forms/schema-fields.ts'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { Button } from '../../parts/button.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { useIsPhone } from '../../parts/media.ts'
import { ProblemBox } from '../../parts/problem.tsx'
import { agentNamesQuery } from '../../requests/names.ts'
import { useSession } from '../../requests/session.ts'
import { adapterName, adapterText } from '../../things/agent/adapter-words.ts'
import { Checks } from '../../things/agent/checks.tsx'
import { RunsAsNotice } from '../../things/agent/runs-as.tsx'
import { SETTING_WORDS } from '../../things/agent/setting-words.ts'
import { useAdapters } from '../../things/agent/use-adapters.ts'
import { Conflict } from './conflict.tsx'
import { FormSection, TextField } from './form-fields.tsx'
import { IdentityFields, LimitsSection, WakingSection, WorkSection } from './own-sections.tsx'
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
  const shared = { control: form.control, problems: form.problems }
  const { data: agents } = useQuery({ ...agentNamesQuery, staleTime: 0 })
  const others = agents?.items.filter(({ slug }) => slug !== agent.slug) ?? []
  const inUse = {
    capabilities: others.flatMap(({ capabilities }) => capabilities),
    taskTypes: others.flatMap(({ taskTypes }) => taskTypes),
  }
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
        <TextField {...shared} hint="As it is called in prompts." label="Display name" name="$name" />
        <IdentityFields {...shared} />
        <FormSection title="What it runs">
          <p className="text-row text-muted">
            {adapterName(agent.adapterType)}. {adapterText(agent.adapterType)}
          </p>
          <SchemaForm {...shared} fields={form.fields} words={SETTING_WORDS} />
        </FormSection>
        <WorkSection {...shared} inUse={inUse} />
        <WakingSection {...shared} nextWakeAt={agent.nextWakeAt} />
        <FormSection title="Limits">
          <LimitsSection {...shared} />
        </FormSection>
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
