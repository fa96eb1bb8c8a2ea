import { PageLink } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { useClock } from '../../parts/clock.ts'
import type { Column } from '../../parts/data-table.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { momentText } from '../../parts/wording.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { shortDrift } from './drift-words.ts'
import { ScheduleText } from './schedule-text.tsx'
import type { usePause } from './use-routine-acts.ts'
import type { ListedRoutine } from './use-routines.ts'

/** Where there is no room for all. */
export const ROUTINE_DROPS = ['drift', 'last', 'marks', 'next']

interface Acts extends ReturnType<typeof usePause> {
  runNow: (routine: ListedRoutine) => void
  whyNotRun: string | null
}

export function routineColumns(acts: Acts): Column<ListedRoutine>[] {
  return [
    {
      name: 'name',
      words: 'Routine',
      width: 'minmax(200px, 1.4fr)',
      phone: 'first',
      cell: ({ id, name }) => (
        <PageLink className="font-medium hover:text-accent hover:underline" to={`/routines/${id}`}>
          {name}
        </PageLink>
      ),
    },
    {
      name: 'schedule',
      words: 'Schedule',
      width: 'minmax(180px, 1.6fr)',
      phone: 'second',
      cell: (routine) => <ScheduleText routine={routine} />,
    },
    {
      name: 'next',
      words: 'Next',
      width: '88px',
      phone: 'hidden',
      cell: ({ nextAt }) =>
        nextAt === null ? <span className="text-faint">–</span> : <Moment at={nextAt} />,
    },
    {
      name: 'marks',
      words: 'Last ten missions',
      width: '184px',
      phone: 'room',
      cell: ({ lastRuns = [] }) => <Marks missions={lastRuns} />,
    },
    {
      name: 'last',
      words: 'Last mission',
      width: '148px',
      phone: 'hidden',
      cell: ({ lastRuns = [] }) => <LastMission missions={lastRuns} />,
    },
    {
      name: 'drift',
      words: 'Against its origin',
      width: '160px',
      phone: 'hidden',
      cell: ({ drift }) => drift && <span className="text-muted">{shortDrift(drift)}</span>,
    },
    {
      name: 'acts',
      words: <span className="sr-only">Actions</span>,
      width: '172px',
      align: 'end',
      phone: 'second',
      cell: (routine) => <RowActs acts={acts} routine={routine} />,
    },
  ]
}

type Missions = NonNullable<ListedRoutine['lastRuns']>

/** Oldest first, as a line is read: each by shape and colour. */
function Marks({ missions }: { missions: Missions }) {
  const now = useClock(60_000)
  if (missions.length === 0) return <span className="text-faint">none yet</span>
  return (
    <span className="flex items-center gap-0.5">
      {[...missions].reverse().map(({ missionId, state, startedAt }) => {
        const said = `${STATE_LOOKS[state].word}, ${momentText(Date.parse(startedAt), now)}`
        return (
          <span className="flex" key={missionId} title={said}>
            <StateMark label={`${said}.`} size={14} state={state} />
          </span>
        )
      })}
    </span>
  )
}

function LastMission({ missions: [last] }: { missions: Missions }) {
  if (!last) return <span className="text-faint">never</span>
  return (
    <PageLink className="text-muted hover:text-accent hover:underline" to={`/missions/${last.missionId}`}>
      {STATE_LOOKS[last.state].word}, <Moment at={last.startedAt} />
    </PageLink>
  )
}

function RowActs({ routine, acts }: { routine: ListedRoutine; acts: Acts }) {
  const { id, name, enabled } = routine
  return (
    <span className="flex justify-end gap-1.5">
      <Button
        aria-label={`Run now: ${name}`}
        disabledReason={acts.whyNotRun}
        kind="quiet"
        onClick={() => acts.runNow(routine)}
        size="small"
      >
        Run now
      </Button>
      <Button
        aria-label={`${enabled ? 'Pause' : 'Resume'}: ${name}`}
        busy={acts.isPausing(id)}
        disabledReason={acts.whyNotPause(routine)}
        kind="quiet"
        onClick={() => acts.pauseOrResume(routine)}
        size="small"
      >
        {enabled ? 'Pause' : 'Resume'}
      </Button>
    </span>
  )
}
