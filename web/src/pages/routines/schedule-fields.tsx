import { Field } from '../../parts/field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Select } from '../../parts/select.tsx'
import { TextInput } from '../../parts/text-input.tsx'
import { cronOfDraft, RHYTHMS, type Rhythm, type ScheduleDraft, withRhythm } from './schedule-draft.ts'
import { NextTimes } from './schedule-text.tsx'
import { cronWords, ordinal } from './schedule-words.ts'
import type { ScheduleTimes } from './use-schedule-times.ts'

const RHYTHM_WORDS: Record<Rhythm, string> = {
  none: 'Only by hand',
  hour: 'Every hour',
  day: 'Every day',
  weekday: 'Every weekday',
  week: 'Every week',
  month: 'Every month',
  cron: 'As cron text',
}
const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'].map(
  (words, place) => ({ value: String((place + 1) % 7), words }),
)
const DAYS = Array.from({ length: 31 }, (_, place) => ({
  value: String(place + 1),
  words: `the ${ordinal(place + 1)}`,
}))
const OVERLAPS = [
  { value: 'skip', words: 'Skip the time' },
  { value: 'queue', words: 'Wait for its end, then start' },
  { value: 'replace', words: 'Cancel it, then start' },
] as const
const CATCH_UPS = [
  { value: 'none', words: 'None of them' },
  { value: 'last', words: 'The last one' },
  { value: 'all', words: 'All of the last day' },
] as const

interface Props {
  value: ScheduleDraft
  onChange: (next: ScheduleDraft) => void
  times: ScheduleTimes
  /** What the server refused of the schedule as a whole. */
  problem: string | undefined
}

/** When it starts missions: a rhythm of everyday words, or cron text; in words and with its next times before it is saved. */
export function ScheduleFields(props: Props) {
  const { value, problem } = props
  return (
    <section aria-label="Schedule" className="flex flex-col items-start gap-4">
      <h2 className="text-title font-semibold">Schedule</h2>
      <When {...props} />
      {value.rhythm === 'none' ? (
        <p className="text-row text-muted">It starts a mission only when somebody runs it.</p>
      ) : (
        <>
          <Preview {...props} />
          <Rules {...props} />
        </>
      )}
      {problem && <p className="text-row text-bad">{problem}</p>}
    </section>
  )
}

function When({ value, onChange, times: { problem } }: Props) {
  const { rhythm, time, weekday, day, cron, timeZone } = value
  const change = (part: Partial<ScheduleDraft>) => onChange({ ...value, ...part })
  return (
    <div className="flex w-full flex-wrap items-start gap-4">
      <Field label="How often">
        <Select
          onChange={(next) => onChange(withRhythm(value, next))}
          options={RHYTHMS.map((one) => ({ value: one, words: RHYTHM_WORDS[one] }))}
          value={rhythm}
        />
      </Field>
      {rhythm === 'week' && (
        <Field label="On">
          <Select onChange={(next) => change({ weekday: next })} options={WEEKDAYS} value={weekday} />
        </Field>
      )}
      {rhythm === 'month' && (
        <Field hint={Number(day) > 28 ? 'Months without that day are left out.' : undefined} label="On">
          <Select onChange={(next) => change({ day: next })} options={DAYS} value={day} />
        </Field>
      )}
      {rhythm === 'cron' ? (
        <div className="min-w-0 flex-1 basis-64">
          <Field
            hint="Minute, hour, day of the month, month, day of the week."
            label="Cron text"
            problem={problem?.field === 'cron' ? problem.words : null}
          >
            <TextInput
              autoComplete="off"
              className="font-mono"
              maxLength={200}
              onChange={(event) => change({ cron: event.target.value })}
              placeholder="0 2 * * 1-5"
              spellCheck={false}
              value={cron}
            />
          </Field>
        </div>
      ) : rhythm === 'hour' ? (
        <Minute onChange={change} time={time} />
      ) : rhythm === 'none' ? null : (
        <Field label="At">
          <TextInput
            className="tabular-nums"
            onChange={(event) => event.target.value !== '' && change({ time: event.target.value })}
            type="time"
            value={time}
          />
        </Field>
      )}
      {rhythm !== 'none' && (
        <div className="min-w-0 basis-56">
          <Zone onChange={(next) => change({ timeZone: next })} problem={problem} value={timeZone} />
        </div>
      )}
    </div>
  )
}

const MINUTES = Array.from({ length: 12 }, (_, place) => place * 5)

function Minute({ time, onChange }: { time: string; onChange: (part: Partial<ScheduleDraft>) => void }) {
  const minute = Number(time.split(':')[1])
  const minutes = MINUTES.includes(minute) ? MINUTES : [...MINUTES, minute].sort((a, b) => a - b)
  return (
    <Field label="At minute">
      <Select
        onChange={(next) => onChange({ time: `${time.split(':')[0]}:${next.padStart(2, '0')}` })}
        options={minutes.map((one) => ({ value: String(one), words: String(one) }))}
        value={String(minute)}
      />
    </Field>
  )
}

const ZONES_ID = 'time-zones'

function Zone(props: { value: string; onChange: (zone: string) => void; problem: ScheduleTimes['problem'] }) {
  const { value, onChange, problem } = props
  return (
    <Field
      hint="Such as Europe/Berlin."
      label="Time zone"
      problem={problem?.field === 'timeZone' ? problem.words : null}
    >
      <TextInput
        autoComplete="off"
        list={ZONES_ID}
        maxLength={64}
        onChange={(event) => onChange(event.target.value)}
        spellCheck={false}
        value={value}
      />
      <datalist id={ZONES_ID}>
        {['UTC', ...Intl.supportedValuesOf('timeZone')].map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </Field>
  )
}

/** What was chosen, read back. */
function Preview({ value, times: { nextTimes, problem } }: Props) {
  const words = cronWords(cronOfDraft(value) ?? '')
  // Said below the field that has it, where there is one.
  if (problem && (problem.field === 'timeZone' || value.rhythm === 'cron')) return null
  if (problem)
    return (
      <p className="flex gap-2 text-row text-bad" role="alert">
        <Icon className="mt-0.5" name="warning" size={14} />
        {problem.words}
      </p>
    )
  return (
    <p aria-live="polite" className="text-row">
      {words && <span className="font-medium">{words.replace(/^./, (one) => one.toUpperCase())}.</span>}
      {nextTimes.length > 0 && (
        <span className="text-muted">
          {' '}
          Next: <NextTimes timeZone={value.timeZone} times={nextTimes} />.
        </span>
      )}
    </p>
  )
}

function Rules({ value, onChange }: Props) {
  return (
    <div className="flex flex-wrap gap-4">
      <Field label="While its last mission is under way">
        <Select
          onChange={(overlap) => onChange({ ...value, overlap })}
          options={[...OVERLAPS]}
          value={value.overlap}
        />
      </Field>
      <Field label="Times that passed while Baton was off">
        <Select
          onChange={(catchUp) => onChange({ ...value, catchUp })}
          options={[...CATCH_UPS]}
          value={value.catchUp}
        />
      </Field>
    </div>
  )
}
