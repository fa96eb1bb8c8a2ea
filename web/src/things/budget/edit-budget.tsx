import { useQuery } from '@tanstack/react-query'
import { useId } from 'react'
import { Problem } from '../../../../src/client/client.ts'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { agentNamesQuery, missionNamesQuery, projectNamesQuery } from '../../requests/names.ts'
import { shownInPlace, useAct } from '../use-act.ts'
import {
  type Budget,
  limitProblems,
  nameOfBudget,
  PERIOD_WORDS,
  PERIODS,
  type Period,
  SCOPES,
  type Scope,
} from './budget.ts'
import { FormDialog } from './form-dialog.tsx'
import { LimitFields, type Limits } from './limit-fields.tsx'

const SCOPE_CHOICES: Record<Scope, string> = {
  workspace: 'The whole workspace',
  project: 'A project',
  agent: 'An agent',
  mission: 'A mission',
  task: 'A task',
}

type OnUnknownPrice = Budget['onUnknownPrice']
const UNKNOWN_PRICE: Record<OnUnknownPrice, string> = {
  ask: 'Stop it and ask me',
  stop: 'Stop it',
  allow: 'Let it work, uncounted',
}

interface Draft {
  scope: Scope
  scopeId: string
  period: Period
  limits: Limits
  countNotional: boolean
  onUnknownPrice: OnUnknownPrice
  isPaced: boolean
}

const NEW: Draft = {
  ...{ scope: 'workspace', scopeId: '', period: 'month', limits: { usd: '', tokens: '' } },
  ...{ countNotional: false, onUnknownPrice: 'ask', isPaced: false },
}

const draftOf = (budget: Budget): Draft => ({
  ...{ scope: budget.scope, scopeId: budget.scopeId ?? '', period: budget.period },
  limits: { usd: budget.maxUsd ?? '', tokens: budget.maxTokens?.toString() ?? '' },
  ...{ countNotional: budget.countNotional, onUnknownPrice: budget.onUnknownPrice, isPaced: budget.isPaced },
})

const isOfWork = (scope: Scope) => scope === 'mission' || scope === 'task'

/** What it is set for, where the page says it already. */
export interface About {
  scope: Scope
  scopeId: string
}

/** A new budget, or another one of a budget that is there. */
export function EditBudget(props: { budget?: Budget; about?: About; onClose: () => void }) {
  const { budget, about, onClose } = props
  const first = budget ? draftOf(budget) : { ...NEW, ...about }
  const place = budget?.id ?? (about ? `${about.scope}:${about.scopeId}` : 'new')
  const { value: draft, set, drop, isKept } = useDraft<Draft>(`edit-budget:${place}`, first)
  const { scope, limits } = draft
  const period = isOfWork(scope) ? 'none' : draft.period
  const discard = () => {
    drop()
    onClose()
  }
  const settings = {
    maxUsd: limits.usd === '' ? null : limits.usd,
    maxTokens: limits.tokens === '' ? null : Number(limits.tokens),
    ...{ countNotional: draft.countNotional, onUnknownPrice: draft.onUnknownPrice, isPaced: draft.isPaced },
  }
  const save = useAct(
    () =>
      budget
        ? api().patch('/budgets/:id', {
            params: { id: budget.id },
            ifMatch: `"${budget.version}"`,
            body: settings,
          })
        : api().post('/budgets', {
            body: { scope, ...(scope !== 'workspace' && { scopeId: draft.scopeId }), period, ...settings },
          }),
    (saved) => {
      discard()
      return `The budget of ${saved.scope === 'workspace' ? 'the workspace' : nameOfBudget(saved)} is ${budget ? 'changed' : 'set'}.`
    },
    { onRefused: shownInPlace },
  )
  const change = (next: Partial<Draft>) => {
    save.reset()
    set((before) => ({ ...before, ...next }))
  }
  const problems = limitProblems(limits)
  const fields = fieldsIn(save.error)
  const missing =
    scope !== 'workspace' && draft.scopeId === ''
      ? 'Choose what it is for.'
      : (problems.usd ??
        problems.tokens ??
        (limits.usd === '' && limits.tokens === '' ? 'Write a limit in dollars, in tokens, or both.' : null))
  return (
    <FormDialog
      confirm={budget ? 'Save budget' : 'Set budget'}
      error={Object.keys(fields).length > 0 ? null : save.error}
      isBusy={save.isBusy}
      onClose={onClose}
      onConfirm={() => save.run()}
      onDiscard={isKept && discard}
      refusal={save.whyNot ?? missing}
      text="When it is spent, what works under it stops and keeps its place, and you are asked."
      title={
        budget
          ? `Budget of ${budget.scope === 'workspace' ? 'the workspace' : nameOfBudget(budget)}`
          : 'New budget'
      }
      width="usual"
    >
      {!budget && !about && <WhatFor draft={draft} onChange={change} problem={fields.scopeId} />}
      {!budget && !isOfWork(scope) && (
        <Field hint="Begins at midnight in the time zone of the workspace." label="Period">
          <Select
            onChange={(next) => change({ period: next })}
            options={PERIODS.map((value) => ({ value, words: PERIOD_WORDS[value].choice }))}
            value={draft.period}
          />
        </Field>
      )}
      <LimitFields
        limits={limits}
        onChange={(next) => change({ limits: next })}
        refused={{ usd: fields.maxUsd ?? null, tokens: fields.maxTokens ?? null }}
      />
      <Settings draft={draft} hasEnd={period !== 'none'} onChange={change} />
    </FormDialog>
  )
}

/** Refusals by field, as the server says them. */
function fieldsIn(error: Error | null): Record<string, string> {
  if (!(error instanceof Problem)) return {}
  return Object.fromEntries((error.errors ?? []).map(({ field, message }) => [field, `It ${message}.`]))
}

function WhatFor(props: {
  draft: Draft
  onChange: (next: Partial<Draft>) => void
  problem: string | undefined
}) {
  const { draft, onChange, problem } = props
  const { scope, scopeId } = draft
  const list = useId()
  const names = useNames(scope)
  return (
    <div className="grid grid-cols-[repeat(auto-fit,minmax(12rem,1fr))] gap-3">
      <Field label="For">
        <Select
          onChange={(next) => onChange({ scope: next, scopeId: '' })}
          options={SCOPES.map((value) => ({ value, words: SCOPE_CHOICES[value] }))}
          value={scope}
        />
      </Field>
      {scope === 'task' ? (
        <Field label="Its key or number" problem={problem}>
          <TextInput
            autoComplete="off"
            onChange={(event) => onChange({ scopeId: event.target.value.trim() })}
            value={scopeId}
          />
        </Field>
      ) : (
        scope !== 'workspace' && (
          <Field label="Which one" problem={problem}>
            <Select
              id={list}
              onChange={(next) => onChange({ scopeId: next })}
              options={[{ value: '', words: names === null ? 'Loading…' : 'Choose one' }, ...(names ?? [])]}
              value={scopeId}
            />
          </Field>
        )
      )}
    </div>
  )
}

/** What can be chosen. */
function useNames(scope: Scope): { value: string; words: string }[] | null {
  const projects = useQuery({ ...projectNamesQuery, enabled: scope === 'project' })
  const agents = useQuery({ ...agentNamesQuery, enabled: scope === 'agent' })
  const missions = useQuery({ ...missionNamesQuery, enabled: scope === 'mission' })
  if (scope === 'project')
    return projects.data?.items.map(({ slug, name }) => ({ value: slug, words: name })) ?? null
  if (scope === 'agent')
    return agents.data?.items.map(({ slug, name }) => ({ value: slug, words: name })) ?? null
  return missions.data?.items.map(({ id, title }) => ({ value: id, words: title })) ?? null
}

function Settings(props: { draft: Draft; hasEnd: boolean; onChange: (next: Partial<Draft>) => void }) {
  const { draft, hasEnd, onChange } = props
  return (
    <>
      {draft.limits.usd !== '' && (
        <>
          <Field
            hint="The answer is kept for the model. You can also set its price in the settings."
            label="When a model without a price works"
          >
            <Select
              onChange={(next) => onChange({ onUnknownPrice: next })}
              options={(['ask', 'stop', 'allow'] as const).map((value) => ({
                value,
                words: UNKNOWN_PRICE[value],
              }))}
              value={draft.onUnknownPrice}
            />
          </Field>
          <Choice
            hint="Subscriptions are not paid by use: what they do is counted at list prices only if you want it."
            isChosen={draft.countNotional}
            onChange={(countNotional) => onChange({ countNotional })}
            words="Count subscriptions in dollars, too"
          />
        </>
      )}
      <Choice
        hint={
          hasEnd
            ? 'Hands out work no faster than the budget lasts until the end of its period.'
            : 'Hands out work no faster than the budget lasts for a week.'
        }
        isChosen={draft.isPaced}
        onChange={(isPaced) => onChange({ isPaced })}
        words="Slow work down so that it lasts"
      />
    </>
  )
}

function Choice(props: {
  words: string
  hint: string
  isChosen: boolean
  onChange: (isChosen: boolean) => void
}) {
  const { words, hint, isChosen, onChange } = props
  const id = useId()
  return (
    <div>
      <label className="touchable flex cursor-pointer items-center gap-2 text-row font-medium">
        <input
          aria-describedby={id}
          checked={isChosen}
          className="size-4 shrink-0 accent-(--accent)"
          onChange={(event) => onChange(event.target.checked)}
          type="checkbox"
        />
        {words}
      </label>
      <p className="pl-6 text-label text-muted" id={id}>
        {hint}
      </p>
    </div>
  )
}
