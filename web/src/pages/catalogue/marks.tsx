import { AgentChip } from '../../parts/agent-chip.tsx'
import { Drawing } from '../../parts/drawing.tsx'
import { Icon } from '../../parts/icon.tsx'
import { StateChip } from '../../parts/state-chip.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { Wordmark } from '../../parts/wordmark.tsx'
import { DRAWINGS, type DrawingName } from '../../theme/drawings.ts'
import { ICONS, type IconName } from '../../theme/icons.ts'
import { type AnyState, STATE_LOOKS } from '../../theme/marks.ts'
import { Sample } from './sample.tsx'

const STATES = Object.keys(STATE_LOOKS) as AnyState[]
const AGENTS = [
  'dev-1',
  'dev-2',
  'planner',
  'code-reviewer',
  'ux-writer',
  'qa',
  'release-bot',
  'data',
  'ops-7',
  'fixer',
]

export function Marks() {
  return (
    <>
      <Sample name="Wordmark">
        <Wordmark />
      </Sample>
      <Sample name="State marks, 12, 16, 24 and 40">
        {STATES.slice(0, 14).map((state) => (
          <span className="flex w-20 flex-col items-center gap-1 text-label text-muted" key={state}>
            <span className="flex items-center gap-2">
              <StateMark size={12} state={state} />
              <StateMark label={STATE_LOOKS[state].word} state={state} />
              <StateMark size={24} state={state} />
            </span>
            <StateMark size={40} state={state} />
            {STATE_LOOKS[state].word}
          </span>
        ))}
      </Sample>
      <Sample name="Running with progress, and not yet confirmed">
        {[0, 10, 62, 100].map((percent) => (
          <StateMark key={percent} percent={percent} size={24} state="running" />
        ))}
        {(['queued', 'paused', 'assigned', 'cancelled'] as const).map((state) => (
          <StateMark isPending key={state} size={24} state={state} />
        ))}
      </Sample>
      <Sample name="State chips">
        {STATES.map((state) => (
          <StateChip key={state} percent={state === 'running' ? 62 : null} state={state}>
            {state === 'awaiting_retry' ? 'Retry in 34 s' : undefined}
          </StateChip>
        ))}
      </Sample>
      <Sample name="Agents">
        {AGENTS.map((slug) => (
          <AgentChip key={slug} slug={slug} />
        ))}
        <AgentChip hasName={false} size={32} slug="dev-1" />
      </Sample>
      <Sample name="Icons">
        {(Object.keys(ICONS) as IconName[]).map((name) => (
          <span className="text-muted" key={name} title={name}>
            <Icon name={name} size={20} />
          </span>
        ))}
      </Sample>
      <Sample name="Drawings">
        {(Object.keys(DRAWINGS) as DrawingName[]).map((name) => (
          <Drawing key={name} name={name} />
        ))}
      </Sample>
    </>
  )
}
