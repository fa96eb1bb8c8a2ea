import { FORMATS, type Format } from '../../../../src/kinds/webhook/record.ts'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { FormDialog } from '../../things/budget/form-dialog.tsx'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import type { Shown } from './secret-shown.tsx'
import { FORMAT_WORDS, listIn, type Webhook } from './words.ts'

interface Draft {
  url: string
  events: string
  name: string
  format: Format
}

const NEW: Draft = { url: '', events: 'mission_*, task_failed', name: '', format: 'baton' }

/** Without its address: what is shown of that may lack a token. */
const draftOf = ({ events, name, format }: Webhook): Draft => ({
  ...{ url: '', events: events.join(', '), name, format },
})

/** Adds a webhook, or changes one. */
export function EditWebhook(props: {
  webhook: Webhook | null
  onClose: () => void
  onSecret: (shown: Shown) => void
}) {
  const { webhook, onClose, onSecret } = props
  const draft = useDraft<Draft>(`webhook:${webhook?.id ?? ''}`, webhook ? draftOf(webhook) : NEW)
  const { url, events, name, format } = draft.value
  const missing = webhook === null && url.trim() === '' ? 'Its address is missing.' : null
  const save = useAct(
    async (): Promise<{ name: string; secret?: string }> => {
      const settings = { events: listIn(events), format, ...(name.trim() !== '' && { name: name.trim() }) }
      if (webhook === null) return api().post('/webhooks', { body: { url: url.trim(), ...settings } })
      const address = url.trim() === '' ? {} : { url: url.trim() }
      return api().patch('/webhooks/:id', { params: { id: webhook.id }, body: { ...settings, ...address } })
    },
    (answer) => {
      draft.drop()
      onClose()
      if (answer.secret === undefined) return `${answer.name} was changed.`
      onSecret({ title: `The webhook ${answer.name}`, parts: [{ words: 'Its key', text: answer.secret }] })
      return undefined
    },
    { right: 'admin', onRefused: shownInPlace },
  )
  const write = (change: Partial<Draft>) => {
    save.reset()
    draft.set((before) => ({ ...before, ...change }))
  }
  return (
    <FormDialog
      confirm={webhook === null ? 'Add webhook' : 'Save webhook'}
      error={save.error}
      isBusy={save.isBusy}
      onClose={onClose}
      onConfirm={() => save.run()}
      onDiscard={
        draft.isKept &&
        (() => {
          draft.drop()
          onClose()
        })
      }
      refusal={save.whyNot ?? missing}
      text="What is sent is signed with a key of its own, which the receiver checks."
      title={webhook === null ? 'New webhook' : `Change ${webhook.name}`}
      width="usual"
    >
      <Field
        hint={webhook === null ? 'http or https.' : `Now ${webhook.url}. Empty: it stays.`}
        label="Address"
      >
        <TextInput
          autoComplete="off"
          className="font-mono"
          inputMode="url"
          maxLength={2_000}
          onChange={(event) => write({ url: event.target.value })}
          placeholder="https://ci.example/hook"
          spellCheck={false}
          value={url}
        />
      </Field>
      <Field
        hint="Types of events, or beginnings of them such as task_*, separated by commas. * is all."
        label="Events"
      >
        <TextInput
          autoComplete="off"
          className="font-mono"
          onChange={(event) => write({ events: event.target.value })}
          spellCheck={false}
          value={events}
        />
      </Field>
      <div className="grid grid-cols-2 gap-4 max-sm:grid-cols-1">
        <Field hint="Without one, its host." label="Name">
          <TextInput
            autoComplete="off"
            maxLength={200}
            onChange={(event) => write({ name: event.target.value })}
            value={name}
          />
        </Field>
        <Field hint="What the receiver understands." label="Format">
          <Select
            onChange={(next) => write({ format: next })}
            options={FORMATS.map((value) => ({ value, words: FORMAT_WORDS[value] }))}
            value={format}
          />
        </Field>
      </div>
    </FormDialog>
  )
}
