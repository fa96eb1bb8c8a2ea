import { PageLink } from '../../links.tsx'
import { Moment } from '../../parts/moment.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { HUE_TEXT } from '../../theme/hues.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { type ListedMission, MissionCost, Progress, progressWords } from '../../things/mission/progress.tsx'
import { waitsForPeople } from './columns.ts'

export const CARD_PX = 108

interface Props {
  mission: ListedMission
  isCursor: boolean
  onCursor: (id: string) => void
}

/** One mission: of the same height, whatever it says. */
export function MissionCard({ mission, isCursor, onCursor }: Props) {
  const { id, title, state, createdAt, completedAt } = mission
  return (
    <article
      className={`relative flex h-full flex-col justify-between overflow-hidden rounded-card bg-raised px-3 py-2 text-row ${isCursor ? 'shadow-[0_0_0_2px_var(--edge)]' : 'shadow-[0_0_0_1px_var(--line),0_1px_1px_var(--card-shade)] hover:bg-hover'}`}
      data-card={id}
    >
      <div className="flex items-center gap-1.5">
        <StateMark label={STATE_LOOKS[state].word} state={state} />
        <PageLink
          className="min-w-0 flex-1 truncate font-medium outline-none after:absolute after:inset-0 after:rounded-card focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
          onFocus={() => onCursor(id)}
          title={title}
          to={`/missions/${id}`}
        >
          {title}
        </PageLink>
      </div>
      <Progress mission={mission} />
      <div className="flex items-center gap-2 text-label text-muted">
        <span className="min-w-0 flex-1 truncate" title={progressWords(mission)}>
          {progressWords(mission)}
        </span>
        <MissionCost mission={mission} />
      </div>
      <div className="flex items-center gap-2 text-label">
        <Reason mission={mission} />
        <span className="shrink-0 text-faint">
          <span className="sr-only">{completedAt === null ? 'Created' : 'Ended'} </span>
          <Moment at={completedAt ?? createdAt} />
        </span>
      </div>
    </article>
  )
}

/** What waits for people, or why it failed; otherwise its state. */
function Reason({ mission }: { mission: ListedMission }) {
  const { state, errorMessage } = mission
  const { word, hue } = STATE_LOOKS[state]
  const waits = waitsForPeople(mission)
  const words = waits ?? errorMessage ?? word
  const tone = waits !== null ? HUE_TEXT.ask : hue === 'bad' ? HUE_TEXT.bad : 'text-muted'
  return (
    <span className={`min-w-0 flex-1 truncate ${tone}`} title={words}>
      {words}
    </span>
  )
}
