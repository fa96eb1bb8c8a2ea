import { useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { useForm } from 'react-hook-form'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { configOf, type FormValues, fieldsOf, valuesOf } from '../../forms/schema-fields.ts'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useFormDraft } from '../../forms/use-form-draft.ts'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { dropDraft, useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { Checks } from '../../things/agent/checks.tsx'
import { makeAgent } from '../../things/agent/make-agent.ts'
import { RunsAsNotice } from '../../things/agent/runs-as.tsx'
import { useAdapters, useTest } from '../../things/agent/use-adapters.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { problemsIn } from './server-problems.ts'
import { SETTING_WORDS } from './setting-words.ts'
import { wordsIn } from './settings-draft.ts'
import { NOT_IN_FORM } from './use-settings-form.ts'

type Adapter = AnswerTo<'GET', '/adapters'>['items'][number]

/** Creates an agent: its adapter, its name, its settings. */
export function NewAgent() {
  const { adapter } = useSearch({ from: '/agents/new' })
  const go = useGo()
  const adapters = useAdapters()
  const allowed = adapters.data?.items.filter((one) => one.allowed) ?? []
  const chosen = allowed.find(({ type }) => type === adapter) ?? allowed[0]
  return (
    <Page text="A program, a service or a script that works on tasks." title="New agent">
      {!chosen ? (
        <Loading read={adapters} rowHeight={64} rows={4} />
      ) : (
        <div className="flex max-w-prose flex-col gap-4">
          <Field hint="What runs it on this node." label="Runs with">
            <Select
              onChange={(type) => go(`/agents/new?adapter=${type}`, { replace: true })}
              options={allowed.map(({ type }) => ({ value: type, words: type }))}
              value={chosen.type}
            />
          </Field>
          <RunsAsNotice runsAs={chosen.runsAs} />
          <NewAgentForm adapter={chosen} key={chosen.type} />
        </div>
      )}
    </Page>
  )
}

function NewAgentForm({ adapter }: { adapter: Adapter }) {
  const { type, configSchema } = adapter
  const go = useGo()
  const { value: slug, set: setSlug, drop } = useDraft('new-agent', '')
  const { value: types, set: setTypes, drop: dropTypes } = useDraft('new-agent-types', '')
  const [unreadable, setUnreadable] = useState<Record<string, string>>({})
  const fields = useMemo(() => fieldsOf(configSchema, NOT_IN_FORM), [configSchema])
  const first = useMemo(() => valuesOf(fields, {}), [fields])
  const form = useForm<FormValues>({ defaultValues: first })
  const { control, getValues } = form
  const name = `new-agent:${type}`
  useFormDraft({ name, fields, form, first, base: null, storableBase: () => null })
  const test = useTest()
  const make = useAct(
    (adapterConfig: Record<string, unknown>) => makeAgent(slug.trim(), type, adapterConfig, wordsIn(types)),
    (agent) => {
      drop()
      dropTypes()
      dropDraft(name)
      go(`/agents/${agent.slug}`, { replace: true })
      return { title: `${agent.slug} was created.`, text: 'Wake it, or give it a task.' }
    },
    { right: 'configure_agents', onRefused: shownInPlace },
  )
  const withConfig = (act: (config: Record<string, unknown>) => void) => {
    const { config, problems } = configOf(fields, getValues())
    setUnreadable(problems)
    test.reset()
    make.reset()
    if (Object.keys(problems).length === 0) act(config)
  }
  const refused = problemsIn(make.error ?? test.error)
  const isTaken = (make.error as { status?: number } | null)?.status === 412
  const refusal = make.whyNot ?? (slug.trim() === '' ? 'It needs a name.' : null)
  return (
    <form
      className="flex flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (refusal === null) withConfig((config) => make.run(config))
      }}
    >
      <Field
        hint="Lowercase letters, digits and dashes, such as dev-1. It cannot be changed later."
        label="Name"
        problem={isTaken ? `There is an agent ${slug.trim()} already.` : refused.fields.id}
      >
        <TextInput
          autoComplete="off"
          onChange={(event) => setSlug(event.target.value)}
          spellCheck={false}
          value={slug}
        />
      </Field>
      <Field
        hint="With commas between. Empty: any type. What is reserved for it may be of any type."
        label="Types of work"
        problem={refused.fields.taskTypes}
      >
        <TextInput
          autoComplete="off"
          onChange={(event) => setTypes(event.target.value)}
          spellCheck={false}
          value={types}
        />
      </Field>
      <SchemaForm
        control={control}
        fields={fields}
        problems={{ ...refused.fields, ...unreadable }}
        words={SETTING_WORDS}
      />
      {refused.rest && !isTaken && <ProblemBox error={refused.rest} />}
      {test.data && <Checks probe={test.data} />}
      <div className="flex flex-wrap gap-2">
        <Button busy={make.isBusy} disabledReason={refusal} kind="primary" type="submit">
          Create agent
        </Button>
        <Button
          busy={test.isPending}
          disabledReason={make.whyNot}
          onClick={() => withConfig((config) => test.mutate({ type, config }))}
        >
          Test
        </Button>
      </div>
    </form>
  )
}
