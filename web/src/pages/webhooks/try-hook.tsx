import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { Field } from '../../parts/field.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { api } from '../../requests/api.ts'
import { useAct } from '../../things/use-act.ts'
import { type Hook, LOOK_OF_VERDICT } from './words.ts'

const EXAMPLE = '{\n  "action": "opened",\n  "issue": { "number": 12, "title": "Login fails" }\n}'

type Tried = AnswerTo<'POST', '/hooks/:id/test'>

const WOULD = {
  task: 'It would create this task',
  mission: 'It would start this mission',
  wakeup: 'It would wake',
}

/** Shows what a payload would do, and does nothing. */
export function TryHook({ hook }: { hook: Hook }) {
  const { value, set } = useDraft(`try-hook:${hook.id}`, { payload: EXAMPLE, event: '' })
  const [tried, setTried] = useState<Tried | null>(null)
  const act = useAct(
    (payload: unknown) => {
      const event = value.event.trim()
      const body = { payload, ...(event !== '' && { event }) }
      return api().post('/hooks/:id/test', { params: { id: hook.id }, body })
    },
    (answer) => {
      setTried(answer)
      return undefined
    },
  )
  const problem = problemOf(value.payload)
  const hasHeader = hook.scheme === 'github' || hook.scheme === 'gitlab'
  return (
    <section aria-label="Try it" className="flex flex-col gap-3">
      <h3 className="text-row font-medium">Try it with a payload</h3>
      {hasHeader && (
        <Field label="Event">
          <TextInput
            autoComplete="off"
            className="font-mono"
            onChange={(event) => set((before) => ({ ...before, event: event.target.value }))}
            placeholder="issues"
            spellCheck={false}
            value={value.event}
          />
        </Field>
      )}
      <Field label="Payload" problem={problem}>
        <TextInput
          className="font-mono"
          onChange={(event) => set((before) => ({ ...before, payload: event.target.value }))}
          rows={5}
          spellCheck={false}
          value={value.payload}
        />
      </Field>
      <Button
        busy={act.isBusy}
        className="self-start"
        disabledReason={act.whyNot ?? problem}
        icon="play"
        onClick={() => act.run(JSON.parse(value.payload))}
        size="small"
      >
        Show what it would do
      </Button>
      <div aria-live="polite">{tried && <Outcome tried={tried} />}</div>
    </section>
  )
}

function problemOf(text: string): string | null {
  try {
    JSON.parse(text)
    return null
  } catch {
    return 'This is no JSON.'
  }
}

function Outcome({ tried: { verdict, reason, would } }: { tried: Tried }) {
  if (!would)
    return (
      <p className="flex flex-wrap items-center gap-2 text-row">
        <Chip hue={LOOK_OF_VERDICT[verdict].hue}>{LOOK_OF_VERDICT[verdict].words}</Chip>
        <span className="min-w-0 wrap-anywhere">{reason}</span>
      </p>
    )
  const { make, agent, title, text, variables } = would
  return (
    <div className="flex flex-col gap-2 rounded-card border border-line bg-raised p-3 text-row">
      <p className="text-muted">
        {WOULD[make]}
        {make === 'wakeup' ? ` ${agent}:` : ':'}
      </p>
      {title !== null && <p className="font-medium wrap-anywhere">{title}</p>}
      {text !== null && <p className="wrap-anywhere whitespace-pre-wrap">{text}</p>}
      {variables !== null && (
        <p className="font-mono text-label wrap-anywhere text-muted">{JSON.stringify(variables)}</p>
      )}
    </div>
  )
}
