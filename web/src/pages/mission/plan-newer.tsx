import { useMemo, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { countText } from '../../parts/wording.ts'
import { PlanVersion, usePlan } from '../../things/mission/plan-version.tsx'
import { changesByTask, planChangesOf, proposerWords, titlesIn } from '../../things/mission/written-plan.ts'

const MOST_SHOWN = 20

/** The plan changed while it was edited: what is different there, beside the edit that goes on. */
export function PlanNewer(props: { missionId: string; mine: number; newest: number; onTake: () => void }) {
  const { missionId, mine, newest, onTake } = props
  const [isShown, setShown] = useState(false)
  const { data } = usePlan(missionId, newest, mine)
  const changes = planChangesOf(data?.changes)
  const { data: before } = usePlan(missionId, mine, null)
  const names = useMemo(() => titlesIn(before?.plan, data?.plan), [before, data])
  const marks = [...changesByTask(changes, names)]
  const removed = changes?.removed ?? []
  const count = marks.length + removed.length
  return (
    <section
      aria-label={`Version ${newest} came meanwhile`}
      className="flex flex-col gap-2 rounded-card bg-ask-tint px-3 py-2 text-row text-ask"
      role="status"
    >
      <p>
        <span className="font-medium">
          Version {newest}
          {data && ` by ${proposerWords(data.proposedBy)}`} came while you edited version {mine}.
        </span>{' '}
        Your edit is kept. If you save it, yours becomes the newest; version {newest} stays in the list.
      </p>
      {count > 0 && (
        // The edit goes on below it, however much is different.
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so that the keyboard has to reach it
        <ul className="flex max-h-48 flex-col gap-0.5 overflow-y-auto" tabIndex={0}>
          {marks.slice(0, MOST_SHOWN).map(([tempId, { kind, words }]) => (
            <li className="break-words" key={tempId}>
              <span className="font-medium">{(names.get(tempId) ?? tempId).slice(0, 200)}</span> {kind}
              {words.length > 0 && `: ${words.join(' · ')}`}
            </li>
          ))}
          {removed.slice(0, MOST_SHOWN).map((tempId) => (
            <li className="break-words" key={tempId}>
              <span className="font-medium">{(names.get(tempId) ?? tempId).slice(0, 200)}</span> removed
            </li>
          ))}
          {(marks.length > MOST_SHOWN || removed.length > MOST_SHOWN) && (
            <li>And more: {countText(count)} tasks differ.</li>
          )}
        </ul>
      )}
      {changes && count === 0 && <p>Its tasks are the same as in version {mine}.</p>}
      <div className="flex flex-wrap gap-2">
        <Button onClick={() => setShown(true)} size="small">
          Show version {newest}
        </Button>
        <Button onClick={onTake} size="small">
          Discard mine and edit version {newest}
        </Button>
      </div>
      <Dialog onClose={() => setShown(false)} open={isShown} title={`Version ${newest}`} width="wide">
        <PlanVersion missionId={missionId} since={mine} version={newest} />
      </Dialog>
    </section>
  )
}
