import type { ReactNode } from 'react'
import { Icon } from '../../parts/icon.tsx'
import { countText } from '../../parts/wording.ts'
import { filesText, type LeftOut, leftOutWords, unfinishedWords, type WorkGaps } from './work-words.ts'

const hasGaps = ({ leftOutCount, unfinished, missing, notSaved }: WorkGaps) =>
  leftOutCount > 0 || Boolean(unfinished || missing || notSaved)

/** Says what is missing, and why. Nothing is drawn when the work is complete. */
export function WorkNotes({ gaps, className = '' }: { gaps: WorkGaps; className?: string }) {
  const { leftOut, leftOutCount, unfinished, missing, notSaved } = gaps
  if (!hasGaps(gaps)) return null
  return (
    <section
      aria-label="What the work lacks"
      className={`flex flex-col gap-2 rounded-card bg-ask-tint px-3 py-2 text-row ${className}`}
    >
      {notSaved && (
        <Note title="The work of this run could not be saved.">
          <p className="wrap-anywhere">{notSaved}</p>
        </Note>
      )}
      {missing && (
        <Note title="Earlier work is missing.">
          <p className="wrap-anywhere">{missing}</p>
        </Note>
      )}
      {unfinished && (
        <Note title={`The agent did not finish ${unfinishedWords(unfinished)}.`}>
          <p>It is not part of the work. It is still in the folder of the run.</p>
        </Note>
      )}
      {leftOutCount > 0 && (
        <Note
          title={`${filesText(leftOutCount)} ${leftOutCount === 1 ? 'was' : 'were'} left out of the commit.`}
        >
          <LeftOutList leftOut={leftOut} more={leftOutCount - countOf(leftOut)} />
        </Note>
      )}
    </section>
  )
}

/** A folder stands for all its files. */
const countOf = (leftOut: readonly LeftOut[]) => leftOut.reduce((sum, { files }) => sum + (files ?? 1), 0)

function Note({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="flex min-w-0 gap-2">
      <Icon className="mt-0.5 shrink-0 text-ask" name="warning" size={14} />
      <div className="min-w-0 flex-1">
        <p className="font-medium text-ask">{title}</p>
        {children}
      </div>
    </div>
  )
}

const NAMED_AT_ONCE = 5

function LeftOutList({ leftOut, more }: { leftOut: readonly LeftOut[]; more: number }) {
  const [first, rest] = [leftOut.slice(0, NAMED_AT_ONCE), leftOut.slice(NAMED_AT_ONCE)]
  return (
    <>
      <Paths leftOut={first} />
      {rest.length > 0 && (
        <details>
          <summary className="touchable cursor-pointer text-muted hover:text-ink">
            Show {countText(rest.length)} more
          </summary>
          <Paths leftOut={rest} />
        </details>
      )}
      {more > 0 && <p className="text-muted">And {countText(more)} more, which are not named.</p>}
      <p className="text-muted">They are still in the folder of the run.</p>
    </>
  )
}

const Paths = ({ leftOut }: { leftOut: readonly LeftOut[] }) => (
  <ul className="flex flex-col">
    {leftOut.map((one) => (
      <li className="wrap-anywhere" key={one.path}>
        <span className="font-mono">{one.path}</span>
        <span className="text-muted">: {leftOutWords(one)}</span>
      </li>
    ))}
  </ul>
)
