import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useWatch } from 'react-hook-form'
import { SchemaForm } from '../../forms/schema-form.tsx'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { api } from '../../requests/api.ts'
import { agentNamesQuery } from '../../requests/names.ts'
import { useSession } from '../../requests/session.ts'
import { writeSearch } from '../../search-params.ts'
import { Checks } from '../../things/agent/checks.tsx'
import { isUsable, type Onboarding } from '../../things/agent/onboarding.ts'
import { RunsAsNotice } from '../../things/agent/runs-as.tsx'
import { SETTING_WORDS } from '../../things/agent/setting-words.ts'
import { useAdapters } from '../../things/agent/use-adapters.ts'
import { FirstBudgetFields, firstBudgetProblem } from '../../things/budget/first-budget.tsx'
import { FormSection } from './form-fields.tsx'
import { IdentityFields, LimitsSection, WakingSection, WorkSection } from './own-sections.tsx'
import { PromptSection } from './prompt-section.tsx'
import { SlugField } from './slug-field.tsx'
import type { TemplateName } from './tabs.ts'
import { TemplateChoice } from './template-choice.tsx'
import { typeFor } from './templates.ts'
import { TestFailed } from './test-failed.tsx'
import { TypeChoice } from './type-choice.tsx'
import type { AgentRead } from './use-agent.ts'
import { type Adapter, draftNameOf, typeDraftOf, useNewAgent, useTemplateInAddress } from './use-new-agent.ts'

type Listed = Pick<AgentRead, 'slug' | 'capabilities' | 'taskTypes'>

/** Creates an agent: from a template, from another agent, or from nothing. */
export function NewAgent() {
  const { from } = useSearch({ from: '/agents/new' })
  const { can } = useSession()
  const adapters = useAdapters()
  const agents = useQuery({ ...agentNamesQuery, staleTime: 0 })
  const copied = useQuery({
    queryKey: ['agent-to-duplicate', from],
    queryFn: ({ signal }) => api().get('/agents/:id', { params: { id: from! }, signal }),
    enabled: from !== undefined,
    gcTime: 0,
  })
  const programs = useQuery({
    queryKey: ['agent-programs'],
    queryFn: ({ signal }) => api().get('/onboarding', { signal }),
    enabled: can('configure_agents'),
    gcTime: 0,
  })
  const allowed = adapters.data?.items.filter((one) => one.allowed) ?? []
  const reads = [adapters, agents, ...(from === undefined ? [] : [copied])]
  const missing = reads.filter(({ data }) => data === undefined)
  const [read = adapters] = missing
  const tryAgain = () => Promise.all(missing.map((one) => one.refetch()))
  return (
    <Page
      text={
        from
          ? `A copy of ${from}, under a name of its own.`
          : 'A program, a service or a script that works on tasks.'
      }
      title={from ? `Duplicate ${from}` : 'New agent'}
    >
      {missing.length > 0 || allowed.length === 0 ? (
        <Loading read={{ ...read, refetch: tryAgain }} rowHeight={64} rows={4} />
      ) : (
        <NewAgentForm
          adapters={allowed}
          agents={agents.data!.items}
          from={copied.data ?? null}
          key={from ?? ''}
          programs={programs.data?.clis}
        />
      )}
    </Page>
  )
}

interface FormProps {
  adapters: readonly Adapter[]
  agents: readonly Listed[]
  from: AgentRead | null
  programs: Onboarding['clis'] | undefined
}

function NewAgentForm({ adapters, agents, from, programs }: FormProps) {
  const search = useSearch({ from: '/agents/new' })
  const go = useGo()
  const types = adapters.map(({ type }) => type)
  const usable = (programs ?? []).filter(isUsable).map(({ adapterType }) => adapterType)
  const ofTemplate = search.template ? typeFor(search.template, types, usable) : null
  const kept = useDraft(typeDraftOf(draftNameOf(from)), '')
  const wanted = search.adapter ?? (kept.value || (from?.adapterType ?? ofTemplate ?? usable[0]))
  const adapter = adapters.find(({ type }) => type === wanted) ?? adapters[0]!
  const taken = agents.map(({ slug }) => slug)
  const made = useNewAgent({ adapters, adapter, from, taken })
  useTemplateInAddress(search.template, made)
  const show = (next: { adapter: string; template: TemplateName | undefined }) => {
    kept.set(next.adapter)
    go(`/agents/new${writeSearch({ from: search.from, ...next })}`, { replace: true })
  }
  const choose = (template: TemplateName) => {
    made.fill(template)
    // What suits it best; where none of that is allowed, the type stays.
    show({ template, adapter: typeFor(template, types, usable) ?? adapter.type })
  }
  const { control } = made.form
  const shared = { control, problems: made.problems }
  const slug = String(useWatch({ control, name: '$slug' }) ?? '').trim()
  const isTaken = slug !== '' && (slug === made.refusedName || taken.includes(slug))
  const refusal =
    made.make.whyNot ?? (slug === '' ? 'It needs a name.' : firstBudgetProblem(made.budget.value))
  const inUse = {
    capabilities: agents.flatMap(({ capabilities }) => capabilities),
    taskTypes: agents.flatMap(({ taskTypes }) => taskTypes),
  }
  return (
    <form
      className="flex max-w-prose flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (refusal === null) made.create()
      }}
    >
      {!from && <TemplateChoice onChoose={choose} value={search.template ?? null} />}
      {made.withoutValue.length > 0 && (
        <p className="rounded-card border border-line bg-bg px-3 py-2 text-row" role="note">
          Secrets are not copied: write the values of {made.withoutValue.join(', ')} again, under Environment
          or Headers.
        </p>
      )}
      <TypeChoice
        onChange={(type) => show({ adapter: type, template: search.template })}
        programs={programs}
        types={types}
        value={adapter.type}
      />
      <RunsAsNotice runsAs={adapter.runsAs} />
      <SlugField
        {...shared}
        isTaken={isTaken}
        onOffer={(offer) => made.form.setValue('$slug', offer, { shouldDirty: true })}
        slug={slug}
      />
      <IdentityFields {...shared} />
      <FormSection title="What it runs">
        <SchemaForm
          {...shared}
          fields={made.fields.filter(({ name }) => name !== 'promptTemplate')}
          words={SETTING_WORDS}
        />
      </FormSection>
      <WorkSection {...shared} inUse={inUse} />
      <WakingSection {...shared} nextWakeAt={null} />
      {made.fields.some(({ name }) => name === 'promptTemplate') && <PromptSection {...shared} />}
      <FormSection title="Limits">
        <LimitsSection {...shared} />
      </FormSection>
      <FormSection title="Budget">
        <FirstBudgetFields onChange={made.budget.set} value={made.budget.value} />
      </FormSection>
      <NewAgentEnd made={made} refusal={isTaken ? 'The name is taken.' : refusal} slug={slug} />
    </form>
  )
}

function NewAgentEnd(props: { made: ReturnType<typeof useNewAgent>; refusal: string | null; slug: string }) {
  const { made, refusal, slug } = props
  const { test, make } = made
  const hasProblems = Object.keys(made.problems).length > 0
  return (
    <>
      {made.refusal && <ProblemBox error={made.refusal} />}
      {test.data && <Checks probe={test.data} />}
      {hasProblems && (
        <p className="text-row text-bad" role="status">
          Some fields need correcting: the problem is shown below each of them.
        </p>
      )}
      <div className="flex flex-wrap gap-2">
        <Button busy={make.isBusy || test.isPending} disabledReason={refusal} kind="primary" type="submit">
          Create agent
        </Button>
        <Button busy={test.isPending} disabledReason={make.whyNot} onClick={made.tryOut}>
          Test
        </Button>
      </div>
      <TestFailed
        isBusy={make.isBusy}
        name={slug}
        onBack={made.back}
        onCreate={made.createAnyway}
        probe={made.asked}
      />
    </>
  )
}
