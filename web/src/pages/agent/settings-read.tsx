import type { ReactNode } from 'react'
import { fieldsOf, type JsonSchema, type SchemaField } from '../../forms/schema-fields.ts'
import { adapterName } from '../../things/agent/adapter-words.ts'
import { SETTING_WORDS } from '../../things/agent/setting-words.ts'
import { ownRows } from './own-rows.ts'
import type { AgentRead } from './use-agent.ts'
import { NOT_IN_FORM } from './use-settings-form.ts'

/** The settings of an agent on a phone: to read only: they decide which programs run, and are not changed with a thumb. */
export function SettingsRead(props: {
  agent: AgentRead
  schema: JsonSchema | undefined
  /** Before the settings. */
  children: ReactNode
}) {
  const { agent, schema, children } = props
  const config: Record<string, unknown> = agent.adapterConfig ?? {}
  const set = fieldsOf(schema, NOT_IN_FORM).filter(({ name }) => config[name] !== undefined)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys
    <section aria-label="Settings" className="min-h-0 flex-1 overflow-y-auto px-4 py-4" tabIndex={0}>
      <p className="mb-4 text-row text-muted">Settings can be changed on a wider screen.</p>
      {children}
      <dl className="mt-4 flex flex-col gap-4">
        <Setting label="Type" value={adapterName(agent.adapterType)} />
        {ownRows(agent).map(([label, value]) => (
          <Setting key={label} label={label} value={value} />
        ))}
        {set.map((field) => (
          <Setting key={field.name} label={labelOf(field)} value={textOf(field, config[field.name])} />
        ))}
      </dl>
    </section>
  )
}

const labelOf = ({ name }: SchemaField) => SETTING_WORDS[name]?.label ?? name

function textOf({ name, kind }: SchemaField, value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (kind === 'map') return Object.keys(value ?? {}).join(', ')
  if (kind === 'list' && Array.isArray(value)) return value.join('\n')
  if (typeof value === 'string') return SETTING_WORDS[name]?.choices?.[value] ?? value
  return JSON.stringify(value, null, 2)
}

function Setting({ label, value }: { label: string; value: string }) {
  return (
    <div>
      <dt className="text-label text-muted">{label}</dt>
      <dd className="mt-0.5 text-body wrap-anywhere whitespace-pre-wrap">{value}</dd>
    </div>
  )
}
