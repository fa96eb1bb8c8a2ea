import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLive } from '../../live/provider.tsx'
import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { explainAct } from '../../parts/explain.ts'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { agentNamesQuery } from '../../requests/names.ts'
import { useSession } from '../../requests/session.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import {
  bodyOf,
  curlOf,
  EMPTY_KEY,
  EXPIRIES,
  type KeyDraft,
  missingIn,
  RIGHT_WORDS,
  ROLE_WORDS,
  rolesWithin,
  type Scope,
  scopesOf,
} from './key-words.ts'

/** Makes a key. Then, and only then, it is shown. */
export function NewKey({ onClose }: { onClose: () => void }) {
  const live = useLive()
  const draft = useDraft<KeyDraft>('new-key', EMPTY_KEY)
  const [made, setMade] = useState<{ name: string; key: string } | null>(null)
  const missing = missingIn(draft.value)
  const make = useAct(
    (wanted: KeyDraft) => api().post('/keys', { body: bodyOf(wanted, live.now()) }),
    (answer) => {
      setMade({ name: answer.name, key: answer.key })
      draft.drop()
      return undefined
    },
    { right: 'admin', onRefused: shownInPlace },
  )
  if (made) return <Made name={made.name} onClose={onClose} secret={made.key} />
  const submit = () => {
    if (missing === null && !make.isBusy) make.run(draft.value)
  }
  const discard = () => {
    draft.drop()
    onClose()
  }
  return (
    <Dialog
      actions={
        <>
          <Button onClick={discard}>Back</Button>
          <Button busy={make.isBusy} disabledReason={make.whyNot ?? missing} kind="primary" onClick={submit}>
            Make the key
          </Button>
        </>
      }
      onClose={onClose}
      open
      text="The key is shown once, as soon as it is made."
      title="New key"
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <KeyFields
          draft={draft.value}
          onChange={(change) => draft.set((before) => ({ ...before, ...change }))}
        />
        <Refusal error={make.error} />
      </form>
    </Dialog>
  )
}

function KeyFields({ draft, onChange }: { draft: KeyDraft; onChange: (change: Partial<KeyDraft>) => void }) {
  const { name, role, scopes, expiry, agent } = draft
  const { rights } = useSession()
  const { data: agents } = useQuery(agentNamesQuery)
  return (
    <>
      <Field hint="What it is for, such as “CI of the shop”." label="Name">
        <TextInput
          maxLength={200}
          onChange={(event) => onChange({ name: event.target.value })}
          value={name}
        />
      </Field>
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field hint={ROLE_WORDS[role].text} label="Role">
          <Select
            onChange={(next) => onChange({ role: next, scopes: null })}
            options={rolesWithin(rights).map((one) => ({ value: one, words: ROLE_WORDS[one].words }))}
            value={role}
          />
        </Field>
        <Field label="Expires">
          <Select
            onChange={(next) => onChange({ expiry: next })}
            options={EXPIRIES.map(({ value, words }) => ({ value, words }))}
            value={expiry}
          />
        </Field>
      </div>
      <Scopes onChange={(next) => onChange({ scopes: next })} role={role} scopes={scopes} />
      <Field
        hint="Then it acts as this agent alone, and may only read and work. For agents that Baton does not run."
        label="Bound to an agent"
      >
        <Select
          onChange={(next) => onChange({ agent: next })}
          options={[
            { value: '', words: 'No agent' },
            ...(agents?.items ?? []).map(({ slug }) => ({ value: slug, words: slug })),
          ]}
          value={agent}
        />
      </Field>
    </>
  )
}

function Scopes(props: {
  role: KeyDraft['role']
  scopes: KeyDraft['scopes']
  onChange: (scopes: KeyDraft['scopes']) => void
}) {
  const { role, scopes, onChange } = props
  const all = scopesOf(role)
  const has = scopes ?? all
  const toggle = (right: Scope, isOn: boolean) => {
    const next = all.filter((one) => (one === right ? isOn : has.includes(one)))
    onChange(next.length === all.length ? null : next)
  }
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="mb-1 text-row font-medium">Rights</legend>
      <div className="flex flex-wrap gap-x-4 gap-y-1">
        {all.map((right) => (
          <label className="touchable inline-flex items-center gap-2 text-row" key={right}>
            <input
              checked={has.includes(right)}
              className="size-4 accent-(--accent)"
              onChange={(event) => toggle(right, event.target.checked)}
              type="checkbox"
            />
            {RIGHT_WORDS[right]}
          </label>
        ))}
      </div>
    </fieldset>
  )
}

function Refusal({ error }: { error: Error | null }) {
  if (!error) return null
  const { title, detail } = explainAct(error)
  return (
    <p className="text-row text-bad" role="alert">
      {title}. {detail}
    </p>
  )
}

function Made({ name, secret, onClose }: { name: string; secret: string; onClose: () => void }) {
  return (
    <Dialog
      actions={
        <Button kind="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
      onClose={onClose}
      onlyByButtons
      open
      text="Copy it now: it is shown only here, and only once."
      title={`The key ${name}`}
    >
      <div className="flex flex-col gap-4">
        <Copyable isBlock text={secret} />
        <div className="flex flex-col gap-1">
          <p className="text-row font-medium">Try it</p>
          <Copyable isBlock text={curlOf(location.origin, secret)} />
        </div>
      </div>
    </Dialog>
  )
}
