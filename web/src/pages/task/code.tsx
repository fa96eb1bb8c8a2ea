import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { isLive } from '../../../../src/core/runs/states.ts'
import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Empty } from '../../parts/empty.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Select } from '../../parts/select.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { countText } from '../../parts/wording.ts'
import { api } from '../../requests/api.ts'
import { type Task, type TaskRun, useTaskRuns } from './use-task.ts'

type Changes = AnswerTo<'GET', '/runs/:id/changes'>

/** What the work did to the repository: files and diffs of a generation's branch. */
export function Code({ task }: { task: Task }) {
  const { data, error, refetch } = useTaskRuns(task.id)
  const [chosen, setChosen] = useState<string | null>(null)
  if (error && !data) return <ProblemBox error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton rows={6} />
  const withBranch = newestOfEach(data.items)
  const run = withBranch.find(({ id }) => id === chosen) ?? withBranch[0]
  if (!run) return <NoCode />
  return (
    <div className="flex min-w-0 flex-col gap-4">
      {withBranch.length > 1 && (
        <Select
          aria-label="Generation"
          className="self-start"
          onChange={setChosen}
          options={withBranch.map(({ id, generation, agent }) => ({
            value: id,
            words: `generation ${generation}, ${agent}`,
          }))}
          size="small"
          value={run.id}
        />
      )}
      <ChangesOf isGoingOn={isLive(run.status)} key={run.id} runId={run.id} />
    </div>
  )
}

const NoCode = () => (
  <Empty
    drawing="path"
    text="Agents that work in a repository get a branch for each generation. What they changed is shown here."
    title="No branch of this task"
  />
)

/** The last run of each generation that worked on a branch, the newest first. */
function newestOfEach(runs: readonly TaskRun[]): TaskRun[] {
  const byGeneration = new Map<number, TaskRun>()
  for (const run of runs.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    if (run.generation !== null && (run.folder as { branch?: string } | null)?.branch)
      byGeneration.set(run.generation, run)
  return [...byGeneration.values()].sort((a, b) => b.generation! - a.generation!)
}

function ChangesOf({ runId, isGoingOn }: { runId: string; isGoingOn: boolean }) {
  const [path, setPath] = useState<string | null>(null)
  const { data, error, refetch } = useQuery({
    queryKey: ['changes', runId, path],
    queryFn: ({ signal }) =>
      api().get('/runs/:id/changes', { params: { id: runId }, query: path === null ? {} : { path }, signal }),
    placeholderData: keepPreviousData,
    gcTime: 0,
  })
  if (error)
    return (error as { status?: number }).status === 404 ? (
      <NoCode />
    ) : (
      <ProblemBox error={error} onRetry={() => void refetch()} />
    )
  if (!data) return <Skeleton rows={6} />
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-row text-muted">
        <Copyable text={data.branch} />
        <span>
          {countText(data.fileCount)} {data.fileCount === 1 ? 'file' : 'files'}, +{countText(data.added)} −
          {countText(data.deleted)}
        </span>
        {isGoingOn && (
          <Button icon="retry" kind="quiet" onClick={() => void refetch()} size="small">
            Look again
          </Button>
        )}
      </div>
      {data.mergeCommand && <Copyable isBlock text={data.mergeCommand} />}
      <Files changes={data} onOpen={setPath} path={path} />
    </>
  )
}

const isThisMachine = () => ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname)

function Files(props: { changes: Changes; path: string | null; onOpen: (path: string | null) => void }) {
  const { changes, path, onOpen } = props
  return (
    <ul aria-label="Changed files" className="flex min-w-0 flex-col">
      {changes.files.map((file) => (
        <li className="min-w-0 border-b border-line last:border-0" key={file.path}>
          <div className="flex items-center gap-3">
            <button
              aria-expanded={path === file.path}
              className="touchable focus-inside flex min-h-8 min-w-0 flex-1 items-center gap-3 text-left text-row hover:bg-hover"
              onClick={() => onOpen(path === file.path ? null : file.path)}
              type="button"
            >
              <span className="w-16 shrink-0 text-label text-muted">{file.status.replace('_', ' ')}</span>
              <span className="min-w-0 flex-1 truncate font-mono" title={file.path}>
                {file.oldPath && <span className="text-faint">{file.oldPath} → </span>}
                {file.path}
              </span>
              <span className="shrink-0 font-mono text-label tabular-nums">
                {file.isBinary ? (
                  'binary'
                ) : (
                  <>
                    <span className="text-done">+{file.added ?? '?'}</span>{' '}
                    <span className="text-bad">−{file.deleted ?? '?'}</span>
                  </>
                )}
              </span>
            </button>
            {changes.folder && isThisMachine() && file.status !== 'deleted' && (
              <a
                className="text-row text-accent hover:underline"
                href={`vscode://file${changes.folder}/${file.path}`}
              >
                edit
              </a>
            )}
          </div>
          {path === file.path && <FileDiff diff={changes.diff?.path === path ? changes.diff : null} />}
        </li>
      ))}
    </ul>
  )
}

function FileDiff({ diff }: { diff: Changes['diff'] }) {
  if (!diff) return <Skeleton rows={4} />
  if (diff.isBinary)
    return <p className="py-2 text-row text-muted">A binary file: it cannot be compared by lines.</p>
  return (
    <div className="py-2">
      <Diff label={`Changes of ${diff.path}`} patch={diff.text} />
      {diff.isCut && <p className="mt-1 text-label text-muted">The rest is too long to show.</p>}
    </div>
  )
}
