import { useEffect, useMemo, useState } from 'react'
import { useForm } from 'react-hook-form'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { configOf, type FormValues, fieldsOf, valuesOf } from '../../forms/schema-fields.ts'
import { formDraftOf, useFormDraft } from '../../forms/use-form-draft.ts'
import { useGo } from '../../links.tsx'
import { dropDraft, useDraft } from '../../parts/drafts.ts'
import { api } from '../../requests/api.ts'
import { canBeSaved, type Probe, problemsOf } from '../../things/agent/check-words.ts'
import { makeAgent } from '../../things/agent/make-agent.ts'
import { useTest } from '../../things/agent/use-adapters.ts'
import { type FirstBudget, NO_BUDGET, setFirstBudget } from '../../things/budget/first-budget.tsx'
import { useAct } from '../../things/use-act.ts'
import { ownBodyOf, ownValuesOf } from './own-fields.ts'
import { byField, problemsIn } from './server-problems.ts'
import { promptOf } from './settings-draft.ts'
import { freeNameLike, slugProblem } from './slugs.ts'
import type { TemplateName } from './tabs.ts'
import { duplicated, missingValues, TEMPLATES } from './templates.ts'
import type { AgentRead } from './use-agent.ts'

export type Adapter = AnswerTo<'GET', '/adapters'>['items'][number]

interface Given {
  adapters: readonly Adapter[]
  /** The chosen one. */
  adapter: Adapter
  /** The agent that is duplicated. */
  from: AgentRead | null
  /** Names that agents have. */
  taken: readonly string[]
}

/** Fields of all types: what is written for one type is there when another is chosen, and back. */
const fieldsOfAll = (adapters: readonly Adapter[]) => [
  ...new Map(
    adapters.flatMap(({ configSchema }) => fieldsOf(configSchema)).map((field) => [field.name, field]),
  ).values(),
]

/** An agent of this name was not there before: the server refuses to change one. */
const isTakenBy = (error: Error | null) => (error as { status?: number } | null)?.status === 412

/** The form, filled from nothing or from the agent that is duplicated, with what was written and not sent. */
function useFilledForm({ adapters, adapter, from, taken }: Given) {
  const name = draftNameOf(from)
  const all = useMemo(() => fieldsOfAll(adapters), [adapters])
  const fields = useMemo(() => fieldsOf(adapter.configSchema), [adapter])
  const copy = useMemo(() => duplicated(from?.adapterConfig ?? {}), [from])
  // What others create meanwhile does not change what is being written.
  // biome-ignore lint/correctness/useExhaustiveDependencies: not of the names that are taken
  const first = useMemo<FormValues>(
    () => ({
      ...valuesOf(all, { ...copy.config, ...(from && { promptTemplate: promptOf(from) }) }),
      ...ownValuesOf(from ? { ...from, name: '' } : {}),
      $slug: from ? freeNameLike(from.slug, taken) : '',
    }),
    [all, copy, from],
  )
  const form = useForm<FormValues>({ defaultValues: first })
  useFormDraft({ name, fields: all, form, first, base: null, storableBase: () => null })
  return { name, form, fields, withoutValue: copy.withoutValue }
}

/** Where the budget is kept that it begins with. */
const budgetDraftOf = (name: string) => `${name}:budget`

/** Where the type is kept of which the agent is to be. */
export const typeDraftOf = (name: string) => `${name}:type`

export const draftNameOf = (from: AgentRead | null) => (from ? `new-agent:${from.slug}` : 'new-agent')

/** Creates the agent, opens its page and has it tested. */
function useMake(type: string, name: string, slugNow: () => string) {
  const go = useGo()
  const budget = useDraft<FirstBudget>(budgetDraftOf(name), NO_BUDGET)
  const [refusedName, setRefusedName] = useState<string | null>(null)
  const make = useAct(
    async (body: Parameters<typeof makeAgent>[2]) => {
      const made = await makeAgent(slugNow(), type, body)
      await setFirstBudget('agent', made.slug, budget.value)
      return made
    },
    ({ slug }) => {
      dropDraft(name)
      budget.drop()
      dropDraft(typeDraftOf(name))
      // Its page says whether it passed.
      void api()
        .post('/agents/:id/test', { params: { id: slug } })
        .catch(() => undefined)
      go(`/agents/${slug}`, { replace: true })
      return { title: `${slug} was created.`, text: 'Wake it, or give it a task.' }
    },
    {
      right: 'configure_agents',
      onRefused: (error) => isTakenBy(error) && setRefusedName(slugNow()),
    },
  )
  return { make, refusedName, budget }
}

/** The form of a new agent: filled from nothing, a template or another agent, tested, and created. */
export function useNewAgent(given: Given) {
  const { taken } = given
  const { type } = given.adapter
  const { name, form, fields, withoutValue } = useFilledForm(given)
  const { getValues, setValue } = form
  const [unreadable, setUnreadable] = useState<Record<string, string>>({})
  const [asked, setAsked] = useState<Probe | null>(null)
  const test = useTest()
  const { make, refusedName, budget } = useMake(type, name, () => String(getValues().$slug).trim())
  const read = () => {
    const values = getValues()
    const { config, problems: ofType } = configOf(fields, values)
    const { body, problems: own } = ownBodyOf(values, null)
    const problems = { ...ofType, ...own, ...missingValues(config, withoutValue) }
    const wrongName = slugProblem(String(values.$slug))
    if (wrongName) problems.$slug = wrongName.words
    setUnreadable(problems)
    test.reset()
    make.reset()
    return { body: { ...body, adapterConfig: config }, isSound: Object.keys(problems).length === 0 }
  }
  const tryOut = (body: ReturnType<typeof read>['body'], then?: (probe: Probe) => void) =>
    test.mutate(
      { type, config: body.adapterConfig, runtimeConfig: body.runtimeConfig ?? {} },
      then ? { onSuccess: then } : {},
    )
  const create = () => {
    const { body, isSound } = read()
    if (!isSound) return
    tryOut(body, (probe) => {
      if (probe.ok) make.run(body)
      else if (canBeSaved(probe)) setAsked(probe)
    })
  }
  const fill = (template: TemplateName) => {
    const { slug, values } = TEMPLATES[template]
    const all = Object.values(TEMPLATES)
    const hasOurPrompt = all.some((one) => one.values.promptTemplate === getValues().promptTemplate)
    if (hasOurPrompt) setValue('promptTemplate', '', { shouldDirty: true })
    for (const [field, value] of Object.entries(values)) setValue(field, value, { shouldDirty: true })
    const written = String(getValues().$slug)
    const isOurs = written === '' || all.some((one) => written.startsWith(one.slug.slice(0, -1)))
    if (isOurs) setValue('$slug', freeNameLike(slug, taken), { shouldDirty: true })
  }
  const found = byField(test.data ? problemsOf(test.data) : [])
  const refused = problemsIn(make.error ?? test.error)
  return {
    ...{ form, fields, fill, create, asked, test, make, withoutValue, budget },
    problems: { ...found.fields, ...refused.fields, ...unreadable },
    /** Somebody else has just taken it. */
    refusedName,
    refusal: isTakenBy(make.error) ? null : refused.rest,
    hasDraft: () => formDraftOf(name) !== undefined,
    tryOut: () => tryOut(read().body),
    back: () => setAsked(null),
    createAnyway: () => {
      setAsked(null)
      make.run(read().body)
    },
  }
}

/** Fills the form from the template in the address, once, unless something is written in it already. */
export function useTemplateInAddress(
  template: TemplateName | undefined,
  { fill, hasDraft }: Pick<ReturnType<typeof useNewAgent>, 'fill' | 'hasDraft'>,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as the page is opened
  useEffect(() => {
    if (template && !hasDraft()) fill(template)
  }, [])
}
