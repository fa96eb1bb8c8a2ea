import { HOOK_SCHEMES } from '../../../../src/kinds/hook/record.ts'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { FormDialog } from '../../things/budget/form-dialog.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { DoesFields } from './does-fields.tsx'
import { draftOf, type HookDraft, missingIn, NEW_HOOK, settingsOf, wrongCondition } from './hook-draft.ts'
import type { Shown } from './secret-shown.tsx'
import { curlOf, type Hook, SCHEME_WORDS } from './words.ts'

/** Adds a hook, or changes one. Its name and how it is signed stay. */
export function EditHook(props: {
  hook: Hook | null
  onClose: () => void
  onSecret: (shown: Shown) => void
}) {
  const { hook, onClose, onSecret } = props
  const draft = useDraft<HookDraft>(`hook:${hook?.id ?? ''}`, hook ? draftOf(hook) : NEW_HOOK)
  const done = () => {
    draft.drop()
    onClose()
  }
  const save = useAct(
    async (): Promise<Pick<Hook, 'name' | 'path' | 'scheme'> & { secret?: string | null }> => {
      const settings = settingsOf(draft.value, hook)
      const { scheme, name, secret } = draft.value
      if (hook !== null) return api().patch('/hooks/:id', { params: { id: hook.id }, body: settings })
      const given = secret.trim() === '' ? {} : { secret: secret.trim() }
      return api().post('/hooks', { body: { name: name.trim(), scheme, ...settings, ...given } })
    },
    (answer) => {
      const given = draft.value.secret.trim()
      done()
      if (answer.secret === undefined) return `${answer.name} was changed.`
      onSecret(madeHook(answer, answer.secret ?? given))
      return undefined
    },
    { right: 'admin', onRefused: shownInPlace },
  )
  const write = (change: Partial<HookDraft>) => {
    save.reset()
    draft.set((before) => ({ ...before, ...change }))
  }
  return (
    <FormDialog
      confirm={hook === null ? 'Make the hook' : 'Save hook'}
      error={save.error}
      isBusy={save.isBusy}
      onClose={onClose}
      onConfirm={() => save.run()}
      onDiscard={draft.isKept && done}
      refusal={save.whyNot ?? missingIn(draft.value)}
      text="What is sent there is material for agents, and never an instruction."
      title={hook === null ? 'New hook' : `Change ${hook.name}`}
      width="usual"
    >
      {hook === null && <WhoCalls draft={draft.value} onChange={write} />}
      <DoesFields draft={draft.value} onChange={write} />
      <Which draft={draft.value} onChange={write} />
    </FormDialog>
  )
}

/** Of a new hook: what its sender needs. */
export function madeHook(hook: Pick<Hook, 'name' | 'path' | 'scheme'>, secret: string): Shown {
  const isInAddress = hook.scheme === 'secret_url'
  return {
    title: `The hook ${hook.name}`,
    parts: [
      { words: 'Address', text: `${location.origin}${hook.path}` },
      ...(isInAddress ? [] : [{ words: 'Secret', text: secret }]),
      { words: 'Try it', text: curlOf(location.origin, hook, secret) },
    ],
  }
}

interface Part {
  draft: HookDraft
  onChange: (change: Partial<HookDraft>) => void
}

function WhoCalls({ draft, onChange }: Part) {
  return (
    <>
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field hint="Letters, digits, dots and dashes. It stays." label="Name">
          <TextInput
            autoComplete="off"
            maxLength={100}
            onChange={(event) => onChange({ name: event.target.value })}
            placeholder="shop-issues"
            spellCheck={false}
            value={draft.name}
          />
        </Field>
        <Field hint={SCHEME_WORDS[draft.scheme].text} label="Called by">
          <Select
            onChange={(scheme) => onChange({ scheme })}
            options={HOOK_SCHEMES.map((value) => ({ value, words: SCHEME_WORDS[value].words }))}
            value={draft.scheme}
          />
        </Field>
      </div>
      <Field hint="Only if the sender gives one. Otherwise Baton makes one." label="Secret">
        <TextInput
          autoComplete="off"
          className="font-mono"
          maxLength={200}
          onChange={(event) => onChange({ secret: event.target.value })}
          placeholder="made by Baton"
          spellCheck={false}
          value={draft.secret}
        />
      </Field>
    </>
  )
}

function Which({ draft, onChange }: Part) {
  return (
    <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
      <Field hint="Such as issues, push. Empty: all of them." label="Only these events">
        <TextInput
          autoComplete="off"
          className="font-mono"
          onChange={(event) => onChange({ events: event.target.value })}
          spellCheck={false}
          value={draft.events}
        />
      </Field>
      <Field
        hint="One in a line: what the payload has there is one of these."
        label="Only if"
        problem={wrongCondition(draft)}
      >
        <TextInput
          autoComplete="off"
          className="font-mono"
          onChange={(event) => onChange({ conditions: event.target.value })}
          placeholder="/action = opened, reopened"
          rows={2}
          spellCheck={false}
          value={draft.conditions}
        />
      </Field>
    </div>
  )
}
