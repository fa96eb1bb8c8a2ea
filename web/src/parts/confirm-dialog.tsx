import { type ChangeEvent, type ReactNode, useId, useState } from 'react'
import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'
import { useDraft } from './drafts.ts'
import { Field } from './field.tsx'
import { TextInput } from './text-input.tsx'

interface Props {
  open: boolean
  onClose: () => void
  onConfirm: (reason: string, isChosen: boolean) => void
  title: ReactNode
  /** What happens then. */
  text: ReactNode
  /** The act by its own name: "Cancel task", never "OK". */
  confirm: string
  isDangerous?: boolean
  busy?: boolean
  /** Has to be typed, for the most dangerous acts. */
  name?: string
  reason?: 'optional' | 'required'
  /** What is asked for, where "Reason" does not say it. */
  reasonLabel?: string
  /** What the reason is about, where the title does not tell it from others: the reason is kept by it until it is sent. */
  draft?: string
  /** A way to do it that may be chosen beside it. */
  choice?: Choice
}

interface Choice {
  words: string
  hint: string
  isChosenFirst?: boolean
}

/** Asks once before an act that cannot be taken back. */
export function ConfirmDialog(props: Props) {
  const {
    open,
    onClose,
    onConfirm,
    title,
    text,
    confirm,
    isDangerous = false,
    busy,
    name,
    reason,
    choice,
  } = props
  const [typed, setTyped] = useState('')
  const reasonDraft = useDraft(`reason:${confirm}:${props.draft ?? String(title)}`, '')
  const { value: why, set: setWhy } = reasonDraft
  const [isChosen, setIsChosen] = useState(choice?.isChosenFirst ?? false)
  const missing = missingIn(props, typed, why)
  const hasFields = name !== undefined || reason !== undefined || choice !== undefined
  const close = () => {
    setTyped('')
    setIsChosen(choice?.isChosenFirst ?? false)
    onClose()
  }
  /** Closing it with Esc keeps what was written. */
  const discard = () => {
    reasonDraft.drop()
    close()
  }
  const submit = () => {
    if (missing || busy) return
    onConfirm(why.trim(), isChosen)
    discard()
  }
  const actions = (
    <>
      <Button onClick={discard}>Back</Button>
      <Button
        // Enter confirms, unless something is to be written first.
        autoFocus={!hasFields}
        busy={busy}
        disabledReason={missing}
        kind={isDangerous ? 'danger' : 'primary'}
        onClick={submit}
        shortcut={reason === undefined ? 'Enter' : 'Ctrl Enter'}
      >
        {confirm}
      </Button>
    </>
  )
  return (
    <Dialog actions={actions} onClose={close} open={open} text={text} title={title} width="small">
      {hasFields && (
        <form
          className="flex flex-col gap-4"
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.repeat) return
            event.preventDefault()
            submit()
          }}
          onSubmit={(event) => {
            event.preventDefault()
            submit()
          }}
        >
          {reason && (
            <ReasonField
              label={props.reasonLabel ?? 'Reason'}
              onChange={setWhy}
              reason={reason}
              value={why}
            />
          )}
          {choice && <ChoiceField choice={choice} isChosen={isChosen} onChange={setIsChosen} />}
          {name !== undefined && (
            <Field label={`Type “${name}” to confirm`}>
              <TextInput
                autoComplete="off"
                onChange={(event) => setTyped(event.target.value)}
                value={typed}
              />
            </Field>
          )}
        </form>
      )}
    </Dialog>
  )
}

function missingIn({ name, reason, reasonLabel }: Props, typed: string, why: string): string | null {
  if (name !== undefined && typed !== name) return `Type ${name} to confirm.`
  return reason === 'required' && why.trim() === ''
    ? reasonLabel
      ? 'It has to be written first.'
      : 'A reason is needed.'
    : null
}

function ReasonField(props: {
  label: string
  reason: 'optional' | 'required'
  value: string
  onChange: (value: string) => void
}) {
  const { label, reason, value, onChange } = props
  return (
    <Field
      hint={reason === 'optional' ? 'Optional. It is kept in the record.' : 'It is kept in the record.'}
      label={label}
    >
      <TextInput
        autoFocus
        onChange={(event: ChangeEvent<HTMLTextAreaElement>) => onChange(event.target.value)}
        rows={reason === 'required' ? 4 : 2}
        value={value}
      />
    </Field>
  )
}

function ChoiceField(props: { choice: Choice; isChosen: boolean; onChange: (isChosen: boolean) => void }) {
  const { choice, isChosen, onChange } = props
  const hint = useId()
  return (
    <div>
      <label className="touchable flex cursor-pointer items-center gap-2 text-row font-medium">
        <input
          aria-describedby={hint}
          checked={isChosen}
          className="size-4 shrink-0 accent-(--accent)"
          onChange={(event) => onChange(event.target.checked)}
          type="checkbox"
        />
        {choice.words}
      </label>
      <p className="pl-6 text-label text-muted" id={hint}>
        {choice.hint}
      </p>
    </div>
  )
}
