import { useCallback, useMemo } from 'react'
import { Button } from '../../parts/button.tsx'
import { useDraft } from '../../parts/drafts.ts'
import { ProblemBox } from '../../parts/problem.tsx'
import { api } from '../../requests/api.ts'
import { shownInPlace, useAct } from '../../things/use-act.ts'
import { EditedTask } from './edited-task.tsx'
import {
  type DraftField,
  type DraftTask,
  draftOf,
  newTask,
  type PlanEdit,
  planEditName,
  planWith,
  problemsByRow,
} from './plan-draft.ts'

/** The newest plan as fields. Saving makes the next version of it, which is what can be approved then. */
export function PlanEditor(props: {
  missionId: string
  version: number
  plan: unknown
  /** A newer version than the one that is edited. */
  newer: number | null
  onClose: () => void
}) {
  const { missionId, version, plan, newer, onClose } = props
  const first = useMemo(() => ({ version, tasks: draftOf(plan) }), [version, plan])
  const { value, set, drop } = useDraft<PlanEdit>(planEditName(missionId), first)
  const { tasks } = value
  const setTasks = useCallback(
    (next: (before: readonly DraftTask[]) => readonly DraftTask[]) =>
      set((before) => ({ ...before, tasks: next(before.tasks) })),
    [set],
  )
  const close = () => {
    drop()
    onClose()
  }
  const save = useAct(
    () =>
      api().put('/missions/:id/plan', {
        params: { id: missionId },
        // The version that was shown: a later one is not overwritten.
        query: { planVersion: String(newer ?? version) },
        body: JSON.stringify(planWith(plan, tasks)),
      }),
    ({ planVersion }) => {
      close()
      return `Saved as version ${planVersion}.`
    },
    { onRefused: shownInPlace },
  )
  const change = useCallback(
    (place: number, field: DraftField, value: string) =>
      setTasks((before) => before.map((task, at) => (at === place ? { ...task, [field]: value } : task))),
    [setTasks],
  )
  const remove = useCallback(
    (place: number) => setTasks((before) => before.filter((_, at) => at !== place)),
    [setTasks],
  )
  const problems = problemsByRow(save.error)
  return (
    <form
      aria-label={`Edit version ${version}`}
      className="flex flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (!save.isBusy) save.run()
      }}
    >
      {newer !== null && (
        <p className="rounded-card bg-ask-tint px-3 py-2 text-row text-ask" role="status">
          Version {newer} came while you edited version {version}. If you save, yours becomes the newest;
          version {newer} stays in the list.
        </p>
      )}
      <PlanProblems problems={problems?.get(null) ?? []} />
      <div className="flex flex-col gap-2">
        {tasks.map((task, place) => (
          <EditedTask
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place in the plan
            key={place}
            onChange={change}
            onRemove={remove}
            place={place}
            problems={problems?.get(place)?.join('\n') ?? ''}
            task={task}
          />
        ))}
      </div>
      <div>
        <Button icon="plus" onClick={() => setTasks((before) => [...before, newTask(before)])} size="small">
          Add a task
        </Button>
      </div>
      {save.error && problems === null && <ProblemBox error={save.error} />}
      {/* Below the padding of the page: a row must not be seen under it. */}
      <div className="sticky -bottom-12 z-10 flex flex-wrap gap-2 border-t border-line bg-sunken py-3">
        <Button busy={save.isBusy} kind="primary" type="submit">
          Save as the next version
        </Button>
        <Button onClick={close}>Keep version {version}</Button>
      </div>
    </form>
  )
}

function PlanProblems({ problems }: { problems: readonly string[] }) {
  if (problems.length === 0) return null
  return (
    <ul className="flex flex-col gap-1 rounded-card bg-bad-tint p-3 text-row text-bad" role="alert">
      {problems.map((words) => (
        <li className="break-words" key={words}>
          {words}
        </li>
      ))}
    </ul>
  )
}
