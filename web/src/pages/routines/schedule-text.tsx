import { Chip } from '../../parts/chip.tsx'
import { exactText } from '../../parts/wording.ts'
import { scheduleWords, timeInZone } from './schedule-words.ts'
import type { ListedRoutine } from './use-routines.ts'

/** When it runs, in words; its next three times are in the tooltip. */
export function ScheduleText({ routine }: { routine: ListedRoutine }) {
  const { schedule, enabled, nextTimes = [] } = routine
  if (schedule === null) return <span className="text-muted">only when you run it</span>
  const times = nextTimes.map((at) => timeInZone(at, schedule.timeZone))
  return (
    <span
      className="flex min-w-0 items-center gap-2"
      title={times.length > 0 ? `Next: ${times.join('; ')}` : undefined}
    >
      {!enabled && <Chip hue="held">Paused</Chip>}
      <span className="min-w-0 truncate">{scheduleWords(schedule)}</span>
    </span>
  )
}

/** Times in the zone of the schedule; those of the reader are in the tooltips. */
export const NextTimes = ({ times, timeZone }: { times: readonly string[]; timeZone: string }) => (
  <>
    {times.map((at, place) => (
      <span key={at}>
        {place > 0 && ' · '}
        <time
          className="whitespace-nowrap tabular-nums"
          dateTime={at}
          title={`Here: ${exactText(Date.parse(at))}`}
        >
          {timeInZone(at, timeZone)}
        </time>
      </span>
    ))}
  </>
)
