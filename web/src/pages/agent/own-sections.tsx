import { useWatch } from 'react-hook-form'
import { useClock } from '../../parts/clock.ts'
import { Icon } from '../../parts/icon.tsx'
import {
  Folded,
  type FormProps,
  FormSection,
  SpanField,
  SwitchField,
  TextField,
  WordsField,
} from './form-fields.tsx'
import { standardOf, wakingIn } from './own-fields.ts'
import { timerText, whyNotWoken } from './schedule.ts'
import { partsOf, spanText } from './spans.ts'

/** The parts of the form that agents of all types have. */

/** Words that agents of this workspace have. */
export interface WordsInUse {
  capabilities: readonly string[]
  taskTypes: readonly string[]
}

/** Who it is: shown in prompts and in plans. */
export function IdentityFields(props: FormProps) {
  return (
    <>
      <TextField {...props} hint="Such as senior engineer. Empty: none." label="Title" name="$title" />
      <TextField
        {...props}
        hint="Its purpose. Its prompt begins with it, and planners read it when they choose who does what."
        label="Role"
        name="$role"
        rows={2}
      />
    </>
  )
}

export function WorkSection({ inUse, ...props }: FormProps & { inUse: WordsInUse }) {
  return (
    <FormSection title="What it takes">
      <WordsField
        {...props}
        hint="Tasks that need a capability go only to agents that have it. Enter or a comma adds one."
        inUse={inUse.capabilities}
        label="Capabilities"
        name="$capabilities"
        placeholder="code, review, planning"
        what="capability"
      />
      <WordsField
        {...props}
        hint="None: any type. Tasks reserved for it may be of any type."
        inUse={inUse.taskTypes}
        label="Types of tasks"
        name="$types"
        placeholder="any"
        what="type"
      />
      <TextField
        {...props}
        hint="Empty: any number."
        isNumber
        label="Tasks at once"
        name="$tasks"
        placeholder="any number"
      />
      <SwitchField
        {...props}
        hint="It gets nothing from the queue that any agent may do."
        label="Only tasks that name it"
        name="$reserved"
      />
    </FormSection>
  )
}

export function WakingSection({ nextWakeAt, ...props }: FormProps & { nextWakeAt: string | null }) {
  return (
    <FormSection title="When it runs">
      <SwitchField {...props} hint="Off: nothing wakes it." label="It can be woken" name="$enabled" />
      <SwitchField
        {...props}
        hint="Off: it looks for work only when something else wakes it."
        label="When a task is for it"
        name="$onAssignment"
      />
      <SwitchField {...props} label="When a person wakes it" name="$onDemand" />
      <SwitchField {...props} label="When an agent or a program wakes it" name="$onAutomation" />
      <SpanField
        {...props}
        hint="It is woken at this interval, with or without a task. Empty: no timer."
        label="Timer"
        name="$timer"
        placeholder="no timer"
      />
      <TimerPreview control={props.control} nextWakeAt={nextWakeAt} />
      <SpanField
        {...props}
        hint="Between the starts of two runs. Tasks that it already holds do not wait."
        label="Pause between runs"
        name="$cooldown"
        placeholder="none"
      />
    </FormSection>
  )
}

/** What the timer means: its next times, or why it never fires. */
function TimerPreview({ control, nextWakeAt }: Pick<FormProps, 'control'> & { nextWakeAt: string | null }) {
  const waking = wakingIn(useWatch({ control }) as Parameters<typeof wakingIn>[0])
  const now = useClock(15_000)
  const set = nextWakeAt === null ? null : Date.parse(nextWakeAt)
  const latest = now + (waking.intervalSec ?? 0) * 1_000
  // A timer that is new or shorter counts from when it is saved.
  const first = set !== null && set > now && set <= latest ? set : latest
  const why = whyNotWoken(waking)
  const text = timerText(waking, first, now)
  return (
    <div aria-live="polite" className="-mt-2 flex flex-col gap-1 text-row empty:hidden">
      {text && <p className="tabular-nums">{text}</p>}
      {why && (
        <p className="flex gap-1.5 text-ask">
          <Icon className="mt-0.5 shrink-0" name="warning" size={14} />
          {why}
        </p>
      )}
    </div>
  )
}

const LIMITS = [
  '$silent',
  '$stopSilent',
  '$idle',
  '$stopIdle',
  '$sameCalls',
  '$errors',
  '$rounds',
  '$wakeups',
]
const RARE = ['$models', '$node', '$fresh']

const standardSpan = (name: Parameters<typeof standardOf>[0]) => {
  const { amount, unit } = partsOf(spanText(standardOf(name)))
  return `${amount} ${unit}`
}

export function LimitsSection(props: FormProps) {
  const has = (names: readonly string[]) => names.some((name) => props.problems[name] !== undefined)
  const span = (name: '$silent' | '$stopSilent' | '$idle' | '$stopIdle', label: string) => (
    <SpanField {...props} label={label} name={name} placeholder={standardSpan(name)} />
  )
  const count = (name: '$sameCalls' | '$errors' | '$rounds' | '$wakeups', label: string, hint?: string) => (
    <TextField
      {...props}
      hint={hint}
      isNumber
      label={label}
      name={name}
      placeholder={String(standardOf(name))}
    />
  )
  return (
    <>
      <Folded hasProblem={has(LIMITS)} title="Limits of a run: loops and silence">
        <p className="text-row text-muted">
          A run that repeats itself or is silent is flagged first, then stopped. 0 turns a limit off; an empty
          field means the value in grey.
        </p>
        {span('$silent', 'Flagged after silence of')}
        {span('$stopSilent', 'Stopped after silence of')}
        {span('$idle', 'Flagged without progress after')}
        {span('$stopIdle', 'Stopped without progress after')}
        {count('$sameCalls', 'Equal calls in a row', 'It is stopped at twice as many.')}
        {count('$errors', 'Failed calls in a row')}
        {count('$rounds', 'Rounds between the same two calls')}
        {count('$wakeups', 'Wakeups per task and hour, at most')}
      </Folded>
      <Folded hasProblem={has(RARE)} title="Models to fall back to, node, fresh starts">
        <WordsField
          {...props}
          hint="In turn, after a rate limit or a result that was not good enough."
          label="Models to fall back to"
          name="$models"
          what="model"
        />
        <TextField
          {...props}
          hint="Only the node of this name runs it. Empty: any."
          label="Node"
          name="$node"
          placeholder="any"
        />
        <SwitchField
          {...props}
          hint="From the base and in a new session. Otherwise it continues the work so far."
          label="Each attempt starts over"
          name="$fresh"
        />
      </Folded>
    </>
  )
}
