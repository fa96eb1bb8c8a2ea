import { PageLink } from '../../links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { ProgressBar } from '../../parts/progress-bar.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { countText } from '../../parts/wording.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { Box } from './box.tsx'
import type { Overview } from './use-overview.ts'

const SHOWN_OPEN = 5
const SHOWN_ENDED = 4

type Open = Overview['missions']['items'][number]
type Ended = Overview['ended']['missions'][number]

/** Missions in progress, and those that ended last with what they cost. */
export function Missions(props: { missions: Overview['missions']; ended: readonly Ended[] }) {
  const { missions, ended } = props
  const { items, count } = missions
  return (
    <Box note={count > SHOWN_OPEN && `${countText(count)} open`} title="Missions" to="/missions">
      {items.length === 0 && <p className="text-row text-muted">No missions in progress.</p>}
      {items.slice(0, SHOWN_OPEN).map((mission) => (
        <OpenMission key={mission.id} mission={mission} />
      ))}
      {ended.length > 0 && <h3 className="mt-1 text-label text-muted">Ended last</h3>}
      {ended.slice(0, SHOWN_ENDED).map((mission) => (
        <EndedMission key={mission.id} mission={mission} />
      ))}
    </Box>
  )
}

const Title = ({ id, title, to = '' }: { id: string; title: string; to?: string }) => (
  <PageLink className="min-w-0 flex-1 truncate hover:text-accent hover:underline" to={`/missions/${id}${to}`}>
    {title}
  </PageLink>
)

function OpenMission({ mission }: { mission: Open }) {
  const { id, title, state, taskCount, tasksCompleted, tasksFailed } = mission
  const percentOf = (tasks: number) => (taskCount === 0 ? 0 : (tasks / taskCount) * 100)
  return (
    <div className="flex items-center gap-3 text-row">
      <StateMark label={STATE_LOOKS[state].word} size={14} state={state} />
      <Title id={id} title={title} />
      <div className="w-24 shrink-0 max-sm:w-16">
        <ProgressBar
          label={`Progress of ${title}`}
          parts={[
            { hue: 'done', percent: percentOf(tasksCompleted) },
            { hue: 'bad', percent: percentOf(tasksFailed) },
          ]}
          percent={percentOf(tasksCompleted)}
        />
      </div>
      <span className="w-14 shrink-0 text-right text-muted tabular-nums">
        {tasksCompleted}/{taskCount}
      </span>
    </div>
  )
}

function EndedMission({ mission }: { mission: Ended }) {
  const { id, title, state, at, taskCount, tasksCompleted, costUsd, isSimulated, runs } = mission
  return (
    <div className="flex items-center gap-3 text-row">
      <StateMark label={STATE_LOOKS[state].word} size={14} state={state} />
      <Title id={id} title={title} to={state === 'completed' ? '?view=report' : ''} />
      <span className="flex shrink-0 items-baseline gap-3 text-muted tabular-nums">
        <span>
          {tasksCompleted}/{taskCount}
        </span>
        {runs > 0 && (
          <span>
            <Money simulated={isSimulated && 'short'} usd={costUsd} />
          </span>
        )}
        <Moment at={at} />
      </span>
    </div>
  )
}
