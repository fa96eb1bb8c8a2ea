import { useState } from 'react'
import { isLive } from '../../../../src/kinds/run/states.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Select } from '../../parts/select.tsx'
import { ChangesView } from '../changes/changes-view.tsx'
import { WorkNotes } from '../changes/work-notes.tsx'
import { gapsOf } from '../changes/work-words.ts'
import { type Task, type TaskRun, useTaskRuns } from './use-task.ts'

/** What the work did to the repository: files and diffs of each attempt, the newest first. */
export function Code({ task }: { task: Task }) {
  const read = useTaskRuns(task.id)
  const { data } = read
  const [chosen, setChosen] = useState<string | null>(null)
  if (!data) return <Loading read={read} rows={6} />
  const attempts = attemptsIn(data.items)
  const run = attempts.find(({ id }) => id === chosen) ?? attempts[0]
  if (!run?.folder) return <NoCode hasRuns={data.items.length > 0} />
  const { folder } = run
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {attempts.length > 1 && (
        <Select
          aria-label="Attempt"
          className="self-start"
          onChange={setChosen}
          options={attempts.map(({ id, generation, agent, status }) => ({
            value: id,
            words: `Attempt ${generation} of ${agent}${isLive(status) ? ', in progress' : ''}`,
          }))}
          size="small"
          value={run.id}
        />
      )}
      {folder.notSaved && <WorkNotes gaps={gapsOf(folder)} />}
      <ChangesView
        continues={folder.continues}
        hasNotes={!folder.notSaved}
        // Read again when the run ends: its work is a commit then.
        key={`${run.id} ${folder.saved?.commit ?? run.status}`}
        of={{ runId: run.id }}
      />
    </div>
  )
}

const NoCode = ({ hasRuns }: { hasRuns: boolean }) => (
  <Empty
    drawing="path"
    text={
      hasRuns
        ? 'Its runs did not work in a git worktree. An agent whose setting “Where it works” is a git worktree gets a branch for each attempt, and its changes are shown here.'
        : 'An agent that works in a git worktree gets a branch for each attempt. What it changes is shown here.'
    }
    title={hasRuns ? 'No branch of this task' : 'No run of this task yet'}
  />
)

/** The last run of each attempt that worked in a worktree, the newest first. */
export function attemptsIn(runs: readonly TaskRun[]): TaskRun[] {
  const byGeneration = new Map<number, TaskRun>()
  for (const run of runs.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    if (run.generation !== null && run.folder?.worktree) byGeneration.set(run.generation, run)
  return [...byGeneration.values()].sort((a, b) => b.generation! - a.generation!)
}
