import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type FormEvent, lazy, Suspense, useState } from 'react'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { dropDraft, useDraft, useHasDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Page } from '../../parts/page.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Select } from '../../parts/select.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { agentNamesQuery } from '../../requests/names.ts'
import { isOwnAgent } from '../../things/agent/own-agent.ts'
import { limitProblems } from '../../things/budget/budget.ts'
import { LimitFields } from '../../things/budget/limit-fields.tsx'
import { problemsIn } from '../../things/mission/plan-edit/plan-problems.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import type { WrittenPlan } from './plan-field.tsx'

/** With CodeMirror and the reader of YAML, which those who let an agent plan do not need. */
const PlanField = lazy(() => import('./plan-field.tsx').then(({ PlanField }) => ({ default: PlanField })))
const NOT_READ: WrittenPlan = { plan: null, whyNot: 'The plan is being read.' }

const AUTONOMIES = [
  { value: 'approve', words: 'Ask me' },
  { value: 'autonomous', words: 'Go ahead below a limit' },
  { value: 'full_auto', words: 'Never ask' },
] as const
const ACCEPTANCES = [
  { value: 'auto', words: 'It is completed' },
  { value: 'human', words: 'I accept the outcome' },
] as const
type Acceptance = (typeof ACCEPTANCES)[number]['value']
type Autonomy = (typeof AUTONOMIES)[number]['value']

const DOLLARS = /^(0|[1-9][0-9]{0,8})(\.[0-9]{1,9})?$/
const dollarsProblem = (text: string) =>
  text === '' || DOLLARS.test(text) ? null : 'Write dollars, such as 2.50.'

interface Draft {
  goal: string
  title: string
  by: 'agent' | 'person'
  planner: string
  autonomy: Autonomy
  below: string
  budget: string
  /** Missing in drafts that were kept before it could be limited in tokens. */
  budgetTokens?: string
  /** Missing in drafts that were kept before there was a choice. */
  acceptance?: Acceptance
}

/** The request to the API. */
const missionOf = (
  { goal, title, by, planner, autonomy, below, budget, budgetTokens = '', acceptance }: Draft,
  plan: WrittenPlan['plan'],
) => ({
  goal: goal.trim(),
  ...(title.trim() === '' ? {} : { title: title.trim() }),
  ...(by === 'person' ? { plan } : planner === '' ? {} : { planner: { agent: planner } }),
  config: {
    autonomy,
    ...(autonomy === 'autonomous' && below !== '' ? { approveBelowUsd: below } : {}),
    ...(budget + budgetTokens === ''
      ? {}
      : {
          budget: {
            ...(budget !== '' && { maxUsd: budget }),
            ...(budgetTokens !== '' && { maxTokens: Number(budgetTokens) }),
          },
        }),
    ...(acceptance === 'human' ? { acceptance } : {}),
  },
})

/** The way from a goal to a plan: an agent makes it, or a person writes it. */
export function NewMission() {
  const { goal = '' } = useSearch({ from: '/missions/new' })
  const go = useGo()
  // A goal that a link brings is another mission than the one that was begun before.
  const written = useDraft<Draft>(`new-mission:${goal}`, {
    goal,
    title: '',
    by: 'agent',
    planner: '',
    autonomy: 'approve',
    below: '',
    budget: '',
    acceptance: 'auto',
  })
  const { value: draft, set: setDraft } = written
  const change = (part: Partial<Draft>) => setDraft((before) => ({ ...before, ...part }))
  const planName = `plan-of-new-mission:${goal}`
  const hasPlan = useHasDraft(planName)
  const [{ plan, whyNot }, setPlan] = useState(NOT_READ)
  // The editor of the plan begins anew then.
  const [times, setTimes] = useState(0)
  const discard = () => {
    written.drop()
    dropDraft(planName)
    setTimes((before) => before + 1)
  }
  const make = useAct(
    (sent: WrittenPlan['plan']) => api().post('/missions', { body: missionOf(draft, sent), retry: true }),
    ({ id }) => {
      discard()
      go(`/missions/${id}`, { replace: true })
    },
    { onRefused: shownInPlace },
  )
  const limits = limitProblems({ usd: draft.budget, tokens: draft.budgetTokens ?? '' })
  const problem =
    draft.goal.trim() === ''
      ? 'Write the goal first.'
      : (limits.usd ??
        limits.tokens ??
        dollarsProblem(draft.below) ??
        (draft.by === 'person' ? whyNot : null))
  const refusal = make.whyNot ?? problem
  const problems = problemsIn(make.error)
  // Once it is edited again, its problems may be others.
  const refused = make.asked === plan ? problems : null
  return (
    <Page title="New mission">
      <form
        className="flex flex-col gap-6 *:max-w-prose"
        onSubmit={(event: FormEvent) => {
          event.preventDefault()
          if (refusal === null && !make.isBusy) make.run(plan)
        }}
      >
        <GoalFields change={change} draft={draft} />
        <div className="flex max-w-none! flex-col items-start gap-3">
          <h2 className="text-row font-medium">Who makes the plan</h2>
          <Segmented
            label="Who makes the plan"
            onChange={(by) => change({ by })}
            options={[
              { value: 'agent', words: 'An agent' },
              { value: 'person', words: 'I write it' },
            ]}
            size="usual"
            value={draft.by}
          />
          {draft.by === 'agent' ? (
            <Planner onChange={(planner) => change({ planner })} value={draft.planner} />
          ) : (
            <Suspense fallback={<Skeleton label="The editor is loading" rowHeight={44} rows={12} />}>
              <PlanField key={times} name={planName} onChange={setPlan} refused={refused} />
            </Suspense>
          )}
        </div>
        <BeforeWork change={change} draft={draft} />
        <AfterWork acceptance={draft.acceptance ?? 'auto'} change={change} />
        <BudgetFields change={change} draft={draft} />
        {make.error && problems === null && <ProblemBox error={make.error} />}
        <div className="flex flex-wrap gap-2">
          <Button busy={make.isBusy} disabledReason={refusal} kind="primary" type="submit">
            {draft.by === 'agent' ? 'Make a plan' : 'Propose this plan'}
          </Button>
          <Button onClick={() => go('/missions')}>Back to missions</Button>
          {(written.isKept || hasPlan) && (
            <Button kind="quiet" onClick={discard}>
              Discard
            </Button>
          )}
        </div>
      </form>
    </Page>
  )
}

/** What the mission is for, and what it is called. */
function GoalFields({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  return (
    <>
      <Field hint="What should be true when it is done." label="Goal">
        <TextInput
          autoFocus
          onChange={(event) => change({ goal: event.target.value })}
          placeholder="Move billing to the new API, and keep the old one alive"
          rows={4}
          value={draft.goal}
        />
      </Field>
      <Field hint="Optional: otherwise the first line of the goal." label="Title">
        <TextInput
          maxLength={500}
          onChange={(event) => change({ title: event.target.value })}
          value={draft.title}
        />
      </Field>
    </>
  )
}

function BudgetFields({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  return (
    <div className="flex flex-col gap-1">
      <LimitFields
        labels={{ usd: 'Budget in dollars', tokens: 'Budget in tokens' }}
        limits={{ usd: draft.budget, tokens: draft.budgetTokens ?? '' }}
        onChange={({ usd, tokens }) => change({ budget: usd, budgetTokens: tokens })}
      />
      <p className="text-label text-muted">
        Optional. When one of them is spent, the mission stops and asks you.
      </p>
    </div>
  )
}

interface DollarsProps {
  label: string
  hint: string
  value: string
  onChange: (value: string) => void
}

const Dollars = ({ label, hint, value, onChange }: DollarsProps) => (
  <Field hint={hint} label={label} problem={dollarsProblem(value)}>
    <TextInput inputMode="decimal" onChange={(event) => onChange(event.target.value.trim())} value={value} />
  </Field>
)

/** Whether a person approves the plan, and up to which cost no approval is needed. */
function BeforeWork({ draft, change }: { draft: Draft; change: (part: Partial<Draft>) => void }) {
  return (
    <div className="flex flex-col items-start gap-3">
      <h2 className="text-row font-medium">Before work begins</h2>
      <Segmented
        label="Before work begins"
        onChange={(autonomy) => change({ autonomy })}
        options={[...AUTONOMIES]}
        size="usual"
        value={draft.autonomy}
      />
      {draft.autonomy === 'autonomous' && (
        <Dollars
          hint="A plan that may cost more, or whose cost is unknown, waits for you."
          label="Limit in dollars"
          onChange={(below) => change({ below })}
          value={draft.below}
        />
      )}
    </div>
  )
}

/** Whether a person looks at the outcome before the mission is completed. */
function AfterWork(props: { acceptance: Acceptance; change: (part: Partial<Draft>) => void }) {
  const { acceptance, change } = props
  return (
    <div className="flex flex-col items-start gap-3">
      <h2 className="text-row font-medium">When the work is done</h2>
      <Segmented
        label="When the work is done"
        onChange={(next) => change({ acceptance: next })}
        options={[...ACCEPTANCES]}
        size="usual"
        value={acceptance}
      />
      {acceptance === 'human' && (
        <p className="text-label text-muted">
          The outcome waits in the inbox. Reject it with what is missing, and the plan continues.
        </p>
      )}
    </div>
  )
}

function Planner({ value, onChange }: { value: string; onChange: (slug: string) => void }) {
  const read = useQuery(agentNamesQuery)
  const { data } = read
  if (!data) return <Loading read={read} rows={1} />
  const agents = data.items.filter(({ slug, state }) => state !== 'terminated' && !isOwnAgent(slug))
  const hasPlanner = agents.some(({ capabilities }) => capabilities.includes('planning'))
  return (
    <Field
      hint={
        !hasPlanner && value === ''
          ? 'No agent has the capability “planning” yet: choose one, or write the plan yourself.'
          : 'It reads the goal and proposes the tasks.'
      }
      label="Planner"
    >
      <Select
        onChange={onChange}
        options={[
          { value: '', words: 'Any agent that can plan' },
          ...agents.map(({ slug }) => ({ value: slug, words: slug })),
        ]}
        value={value}
      />
    </Field>
  )
}
