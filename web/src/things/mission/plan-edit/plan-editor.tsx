import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useMemo, useRef, useState } from 'react'
import { isPlainEnter } from '../../../keys/keystrokes.ts'
import { Segmented } from '../../../parts/segmented.tsx'
import { Skeleton } from '../../../parts/skeleton.tsx'
import { agentNamesQuery } from '../../../requests/names.ts'
import { stepsOf } from '../plan-steps.ts'
import { EMPTY_ROSTER, notesOf, type Roster } from './agent-notes.ts'
import { Figures, ProblemList } from './figures.tsx'
import { Outline } from './outline.tsx'
import { upstreamPlaces } from './plan-figures.ts'
import { PlanForm } from './plan-form.tsx'
import { byTask, type PlanProblem } from './plan-problems.ts'
import { tasksIn } from './plan-value.ts'
import { TaskForm } from './task-form.tsx'
import { Unreadable } from './unreadable.tsx'
import { useOutlineActs } from './use-outline-acts.tsx'
import { usePlanCheck } from './use-plan-check.ts'
import type { PlanDrafting } from './use-plan-draft.ts'
import type { YamlHandle } from './yaml-text.tsx'

const YamlText = lazy(() => import('./yaml-text.tsx').then(({ YamlText }) => ({ default: YamlText })))

const NO_PROBLEMS: readonly PlanProblem[] = []

function useRoster(): Roster {
  const { data } = useQuery(agentNamesQuery)
  return useMemo(
    () => (data ? { agents: data.items, isCut: data.nextCursor !== null } : EMPTY_ROSTER),
    [data],
  )
}

type Beside = 'task' | 'yaml'

const BesideChoice = ({ value, onChange }: { value: Beside; onChange: (value: Beside) => void }) => (
  <div className="@min-[1000px]:hidden">
    <Segmented
      label="Beside the outline"
      onChange={onChange}
      options={[
        { value: 'task', words: 'Task' },
        { value: 'yaml', words: 'YAML' },
      ]}
      value={value}
    />
  </div>
)

/** A plan as an outline, the fields of one task, and YAML: three views of one draft. Where there is no room for all, one of the last two is shown. */
export function PlanEditor(props: {
  drafting: PlanDrafting
  /** What the server said when this very plan was sent. */
  refused?: readonly PlanProblem[] | null
  /** Its mission runs: tasks may have been begun. */
  isRunning?: boolean
}) {
  const { drafting, refused, isRunning = false } = props
  const { draft } = drafting
  const tasks = tasksIn(draft.plan)
  const check = usePlanCheck(draft)
  const problems = check.problems.length > 0 ? check.problems : (refused ?? NO_PROBLEMS)
  const roster = useRoster()
  const upstream = useMemo(() => upstreamPlaces(tasks), [tasks])
  const { steps, stepOf } = useMemo(() => stepsOf(upstream), [upstream])
  const [selected, setSelected] = useState(0)
  const [beside, setBeside] = useState<Beside>('task')
  const yaml = useRef<YamlHandle>(null)
  const at = Math.min(selected, tasks.length - 1)
  const task = tasks[at]
  const ofTasks = useMemo(() => byTask(problems), [problems])
  const isLocked = draft.fault !== null
  const notes = useMemo(() => tasks.filter((one) => notesOf(one, roster).length > 0).length, [tasks, roster])
  const acts = useOutlineActs({ drafting, at, steps, onSelect: setSelected, isLocked })
  const goTo = (line: number) => {
    setBeside('yaml')
    // Where it was hidden, it has a place only when it is drawn.
    requestAnimationFrame(() => yaml.current?.goTo(line))
  }
  const show = ({ task: place, line }: PlanProblem) => {
    if (place !== null) setSelected(place)
    else if (line !== null) goTo(line)
  }
  return (
    // Enter in a field of the plan must not send the form around it.
    <section
      aria-label="Plan editor"
      className="@container flex min-w-0 flex-col gap-3"
      onKeyDown={(event) => {
        if (isPlainEnter(event) && event.target instanceof HTMLInputElement) event.preventDefault()
      }}
    >
      <Figures check={check} notes={notes} steps={steps.length} tasks={tasks} upstream={upstream} />
      {draft.fault ? (
        <Unreadable drafting={drafting} fault={draft.fault} onShow={goTo} />
      ) : (
        <ProblemList onShow={show} problems={problems} tasks={tasks} />
      )}
      <PlanForm edit={drafting.edit} isLocked={isLocked} plan={draft.plan} problems={problems} />
      <BesideChoice onChange={setBeside} value={beside} />
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-4 @min-[640px]:grid-cols-[minmax(0,0.9fr)_minmax(0,1.1fr)] @min-[1000px]:grid-cols-[minmax(0,0.9fr)_minmax(0,1.1fr)_minmax(0,1.1fr)]">
        <Outline
          acts={acts}
          at={at}
          isLocked={isLocked}
          onSelect={setSelected}
          problems={ofTasks}
          roster={roster}
          steps={steps}
          tasks={tasks}
          upstream={upstream}
        />
        <div
          className={`min-w-0 rounded-card border border-line bg-raised @min-[640px]:max-h-[calc(64dvh+36px)] @min-[640px]:overflow-y-auto ${beside === 'task' ? '' : 'hidden @min-[1000px]:block'}`}
        >
          {task ? (
            <TaskForm
              at={at}
              edit={drafting.edit}
              isLocked={isLocked}
              isRunning={isRunning}
              key={at}
              problems={ofTasks.get(at) ?? NO_PROBLEMS}
              roster={roster}
              step={stepOf[at] ?? 0}
              task={task}
              tasks={tasks}
            />
          ) : (
            <p className="p-4 text-row text-muted">Add a task to begin.</p>
          )}
        </div>
        <div className={`min-w-0 ${beside === 'yaml' ? '' : 'hidden @min-[1000px]:block'}`}>
          <Suspense fallback={<Skeleton label="The editor is loading" rowHeight={20} rows={12} />}>
            <YamlText
              at={at}
              onChange={drafting.type}
              onTurn={drafting.settle}
              problems={check.isCurrent || isLocked ? problems : NO_PROBLEMS}
              ref={yaml}
              value={draft.text}
            />
          </Suspense>
        </div>
      </div>
      {acts.dialog}
    </section>
  )
}
