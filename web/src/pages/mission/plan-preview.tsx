import { useMemo } from 'react'
import { countText } from '../../parts/wording.ts'
import { usePlan } from '../../things/mission/plan-version.tsx'
import { fieldNoun } from '../../things/mission/plan-words.ts'
import type { Mission } from '../../things/mission/progress.tsx'
import { planChangesOf, titlesIn } from '../../things/mission/written-plan.ts'

type Preview = NonNullable<Mission['preview']>

const MOST_SHOWN = 30

interface Group {
  readonly words: string
  readonly tasks: readonly { tempId: string; note: string }[]
}

/** What the approval would do to the tasks that there are, the most drastic first. */
function groupsOf({ added, changed, cancelled, kept }: Preview): Group[] {
  const withFields = (when: Preview['changed'][number]['when']) =>
    changed
      .filter((one) => one.when === when)
      .map(({ tempId, fields }) => ({ tempId, note: fields.map(fieldNoun).join(', ') }))
  const groups: Group[] = [
    { words: 'cancelled', tasks: cancelled.map(({ tempId }) => ({ tempId, note: '' })) },
    { words: 'added', tasks: added.map((tempId) => ({ tempId, note: '' })) },
    { words: 'changed now', tasks: withFields('now') },
    { words: 'changed for the next attempt, as work on it was begun', tasks: withFields('next_attempt') },
    {
      words: 'kept although the plan says otherwise, as work on it was begun',
      tasks: kept.filter(({ because }) => because === 'begun').map(({ tempId }) => ({ tempId, note: '' })),
    },
    {
      words: 'no longer in the plan, and ended before',
      tasks: kept.filter(({ because }) => because === 'ended').map(({ tempId }) => ({ tempId, note: '' })),
    },
  ]
  return groups.filter(({ tasks }) => tasks.length > 0)
}

/** Before another plan of a mission that runs is approved: what would happen to its tasks. */
export function PlanPreview({ mission }: { mission: Mission }) {
  const { id, preview, planVersion, approvedVersion } = mission
  const { data } = usePlan(id, planVersion ?? 1, approvedVersion)
  const before = usePlan(id, approvedVersion ?? 1, null).data
  const names = useMemo(() => titlesIn(before?.plan, data?.plan), [before, data])
  if (!preview) return null
  const groups = groupsOf(preview)
  const changes = planChangesOf(data?.changes)
  const edges = changes?.edges
  const isRemoved = new Set(changes?.removed)
  const nameOf = (tempId: string) => (names.get(tempId) ?? tempId).slice(0, 200)
  const edgeWords = [
    ...(edges?.added ?? []).map(({ from, to }) => `“${nameOf(to)}” now waits for “${nameOf(from)}”`),
    // What a removed task waited for is no news.
    ...(edges?.removed ?? [])
      .filter(({ to }) => !isRemoved.has(to))
      .map(({ from, to }) => `“${nameOf(to)}” no longer waits for “${nameOf(from)}”`),
  ]
  const untouched = preview.kept.filter(({ because }) => because === null).length
  return (
    <section
      aria-label="What approval would change"
      className="rounded-card border border-line bg-raised p-4"
    >
      <h3 className="text-row font-medium">If you approve version {planVersion}</h3>
      {groups.length === 0 && <p className="text-row text-muted">No task changes.</p>}
      <dl className="mt-2 flex flex-col gap-2">
        {groups.map(({ words, tasks }) => (
          <div key={words}>
            <dt className="text-label font-medium text-muted">
              {countText(tasks.length)} {tasks.length === 1 ? 'task' : 'tasks'} {words}
            </dt>
            {tasks.slice(0, MOST_SHOWN).map(({ tempId, note }) => (
              <dd className="text-row break-words" key={tempId}>
                {nameOf(tempId)} {note && <span className="text-muted">({note})</span>}
              </dd>
            ))}
            {tasks.length > MOST_SHOWN && (
              <dd className="text-row text-muted">and {countText(tasks.length - MOST_SHOWN)} more</dd>
            )}
          </div>
        ))}
        {edgeWords.length > 0 && (
          <div>
            <dt className="text-label font-medium text-muted">Dependencies</dt>
            {edgeWords.slice(0, MOST_SHOWN).map((words) => (
              <dd className="text-row break-words" key={words}>
                {words}
              </dd>
            ))}
            {edgeWords.length > MOST_SHOWN && (
              <dd className="text-row text-muted">and {countText(edgeWords.length - MOST_SHOWN)} more</dd>
            )}
          </div>
        )}
      </dl>
      {untouched > 0 && (
        <p className="mt-2 text-label text-muted">
          {countText(untouched)} {untouched === 1 ? 'task stays as it is' : 'tasks stay as they are'}.
        </p>
      )}
    </section>
  )
}
