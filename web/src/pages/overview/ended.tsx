import { causeOf } from '../../../../src/pure/cause.ts'
import { PageLink } from '../../links.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { WINDOW_WORDS, type Window } from '../../parts/windows.ts'
import { plainWords } from '../../parts/wording.ts'
import { nameOfTask } from '../../requests/act-words.ts'
import { STATE_LOOKS } from '../../theme/marks.ts'
import { Box } from './box.tsx'
import type { Overview } from './use-overview.ts'

type EndedTask = Overview['ended']['tasks'][number]

/** What ended last, with its result, or why it failed. */
export function Ended({ ended, window }: { ended: readonly EndedTask[]; window: Window }) {
  return (
    <Box title="Ended last" to="/board?view=list">
      {ended.length === 0 && (
        <p className="text-row text-muted">Nothing ended in {WINDOW_WORDS[window].last}.</p>
      )}
      <ul aria-label="Tasks that ended last" className="-mx-4 -mb-3">
        {ended.map((task) => (
          <EndedRow key={task.id} task={task} />
        ))}
      </ul>
    </Box>
  )
}

function EndedRow({ task }: { task: EndedTask }) {
  const { id, key, title, state, agent, at, workMs, summary, costUsd, isSimulated, runs } = task
  const isBad = state === 'failed'
  return (
    <li className="flex items-start gap-2 border-t border-line px-4 py-1.5 text-row">
      <span className="mt-0.5 inline-flex shrink-0">
        <StateMark label={STATE_LOOKS[state].word} size={14} state={state} />
      </span>
      <span className="flex min-w-0 flex-1 flex-col">
        <PageLink className="truncate hover:text-accent hover:underline" to={`/tasks/${key ?? id}`}>
          <span className="mr-1.5 font-medium">{key ?? nameOfTask(id, undefined)}</span>
          {title}
        </PageLink>
        {summary && (
          <span className={`truncate ${isBad ? 'text-bad' : 'text-muted'}`} title={summary}>
            {isBad ? causeOf(summary) : plainWords(summary)}
          </span>
        )}
      </span>
      <span className="flex shrink-0 items-baseline gap-3 text-muted tabular-nums">
        {agent !== null && <span className="max-w-32 truncate @max-[700px]:hidden">{agent}</span>}
        {workMs !== null && (
          <span className="@max-[700px]:hidden">
            <Duration ms={workMs} />
          </span>
        )}
        {runs > 0 && (
          <span className="max-sm:hidden">
            <Money simulated={isSimulated && 'short'} usd={costUsd} />
          </span>
        )}
        <span className="w-16 text-right">
          <Moment at={at} />
        </span>
      </span>
    </li>
  )
}
