import { useEffect, useMemo, useState } from 'react'
import { useForm } from 'react-hook-form'
import { configOf, type FormValues, fieldsOf, type JsonSchema, valuesOf } from '../../forms/schema-fields.ts'
import { formDraftOf, useFormDraft, withoutSecrets } from '../../forms/use-form-draft.ts'
import { api } from '../../requests/api.ts'
import { problemsOf } from '../../things/agent/check-words.ts'
import { useTest } from '../../things/agent/use-adapters.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { ownBodyOf, ownValuesOf } from './own-fields.ts'
import { byField, problemsIn } from './server-problems.ts'
import { isChangedElsewhere, type Saved, withPromptOf } from './settings-draft.ts'
import type { AgentRead } from './use-agent.ts'

/** The prompt has an editor of its own. */
export const NOT_IN_FORM = ['promptTemplate']

type Fields = ReturnType<typeof fieldsOf>

const formOf = (fields: Fields, agent: AgentRead): FormValues => ({
  ...valuesOf(fields, agent.adapterConfig ?? {}),
  ...ownValuesOf(agent),
})

function draftIn(fields: Fields, values: FormValues, agent: AgentRead) {
  const { config, problems } = configOf(fields, values)
  const own = ownBodyOf(values, agent.runtimeConfig)
  const adapterConfig = withPromptOf(config, agent)
  const body = { ...own.body, name: own.body.name ?? agent.slug, adapterConfig }
  return { body, problems: { ...problems, ...own.problems } }
}

type Body = ReturnType<typeof draftIn>['body']

const savedOf = (agent: AgentRead): Saved => {
  const { name, maxConcurrentTasks, taskTypes, capabilities, runtimeConfig, adapterConfig, version } = agent
  return { name, maxConcurrentTasks, taskTypes, capabilities, runtimeConfig, adapterConfig, version }
}

/** The agent from which a form was filled that was left before it was saved. What was not stored of it is as it is now. */
function keptBase(name: string, agent: AgentRead): AgentRead {
  const base = formDraftOf<Saved>(name)?.base
  return base
    ? { ...agent, ...base, adapterConfig: { ...agent.adapterConfig, ...base.adapterConfig } }
    : agent
}

/** The form as it was filled, from which agent, and with what was written and not saved. */
function useFilledForm(agent: AgentRead, schema: JsonSchema | undefined) {
  const fields = useMemo(() => fieldsOf(schema, NOT_IN_FORM), [schema])
  const name = `settings:${agent.slug}`
  const [filledFrom, setFilledFrom] = useState(() => keptBase(name, agent))
  const first = useMemo(() => formOf(fields, filledFrom), [fields, filledFrom])
  const form = useForm<FormValues>({ defaultValues: first })
  const { reset, formState } = form
  useFormDraft<Saved>({
    ...{ name, fields, form, first },
    base: savedOf(filledFrom),
    storableBase: (base) => ({ ...base, adapterConfig: withoutSecrets(fields, base.adapterConfig ?? {}) }),
  })
  const { isDirty } = formState
  const isChanged = isChangedElsewhere(filledFrom, agent)
  const fill = (from: AgentRead) => {
    setFilledFrom(from)
    reset(formOf(fields, from))
  }
  // What is not edited here follows what others save.
  useEffect(() => {
    if (isDirty || !isChanged) return
    setFilledFrom(agent)
    reset(formOf(fields, agent))
  }, [agent, isChanged, isDirty, reset, fields])
  return { fields, form, filledFrom, fill, isDirty, isChanged }
}

/** The form of an agent's settings: filled, tested, saved; and what happens when somebody else saves in the meantime. */
export function useSettingsForm(agent: AgentRead, schema: JsonSchema | undefined) {
  const { fields, form, filledFrom, fill, isDirty, isChanged } = useFilledForm(agent, schema)
  const { control, getValues } = form
  const [unreadable, setUnreadable] = useState<Record<string, string>>({})
  const test = useTest()
  const save = useAct(
    (body: Body) =>
      api().put('/agents/:id', {
        params: { id: agent.slug },
        body,
        // What was just saved here may be newer than the agent that is shown: its event is still to come.
        ifMatch: `"${Math.max(agent.version, filledFrom.version)}"`,
      }),
    (saved) => {
      fill({ ...agent, ...saved })
      // What is saved is tested: its page says whether it can run.
      test.mutate({ type: saved.adapterType, agent: agent.slug })
      return `The settings of ${saved.slug} are saved.`
    },
    { right: 'configure_agents', onRefused: shownInPlace },
  )
  /** Continues with what the form shows, unless something cannot be read; that is marked. */
  const withDraft = (go: (body: Body) => void) => {
    const { body, problems } = draftIn(fields, getValues(), agent)
    setUnreadable(problems)
    save.reset()
    test.reset()
    if (Object.keys(problems).length === 0) go(body)
  }
  const refused = problemsIn(save.error ?? test.error)
  const found = byField(test.data ? problemsOf(test.data) : [])
  return {
    fields,
    control,
    isDirty,
    problems: { ...found.fields, ...refused.fields, ...unreadable },
    refusal: refused.rest,
    checks: test.data,
    isSaving: save.isBusy,
    isTesting: test.isPending,
    /** Mine, when somebody else saved other settings since the form was filled. */
    conflicting: isDirty && isChanged ? draftIn(fields, getValues(), agent).body : null,
    undo: () => {
      setUnreadable({})
      fill(agent)
    },
    save: () => withDraft((body) => save.run(body)),
    test: () =>
      isDirty
        ? withDraft(({ adapterConfig, runtimeConfig }) =>
            test.mutate({
              ...{ type: agent.adapterType, agent: agent.slug },
              ...{ config: adapterConfig, runtimeConfig: runtimeConfig ?? {} },
            }),
          )
        : test.mutate({ type: agent.adapterType, agent: agent.slug }),
  }
}
