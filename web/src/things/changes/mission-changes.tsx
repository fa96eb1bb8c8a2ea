import { Copyable } from '../../parts/copyable.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { countText } from '../../parts/wording.ts'
import { nameOfTask } from '../../requests/act-words.ts'
import { ChangedFiles } from './changed-files.tsx'
import { commitsOf, type RepositoryChanges, useMissionChanges } from './use-changes.ts'
import { filesText, linesText } from './work-words.ts'

/** What the accepted work of a mission has changed, by repository: branches, conflicts, files with their diffs. */
export function MissionChanges({ id, hasKeys = false }: { id: string; hasKeys?: boolean }) {
  const read = useMissionChanges(id)
  const { data } = read
  if (!data) return <Loading read={read} rows={4} />
  const { repositories, elsewhere } = data
  if (repositories.length === 0 && elsewhere.length === 0)
    return (
      <p className="text-row text-muted">
        None of its tasks was done in a git worktree that Baton made, so there is no diff.
      </p>
    )
  return (
    <div className="flex min-w-0 flex-col gap-5">
      {repositories.map((changes, i) => (
        <Repository
          changes={changes}
          hasKeys={hasKeys && i === 0}
          hasName={repositories.length + elsewhere.length > 1}
          key={changes.repository}
          missionId={id}
        />
      ))}
      {elsewhere.map(({ repository, node, taskCount }) => (
        <p className="text-row text-muted" key={`${repository} ${node}`}>
          The work of {tasksText(taskCount)} in {repository ?? 'a repository that is no longer known'} is on{' '}
          {node ?? 'another node'}.
        </p>
      ))}
    </div>
  )
}

const tasksText = (count: number) => `${countText(count)} ${count === 1 ? 'task' : 'tasks'}`

interface Props {
  missionId: string
  changes: RepositoryChanges
  hasName: boolean
  hasKeys: boolean
}

function Repository({ missionId, changes, hasName, hasKeys }: Props) {
  const { repository, files, fileCount, added, deleted, missingCount, cut } = changes
  const listed = { files, fileCount, commit: commitsOf(changes), since: 'base', folder: null } as const
  return (
    <div className="flex min-w-0 flex-col gap-2">
      {hasName && <h4 className="text-body font-medium break-words">{repository}</h4>}
      <Branches changes={changes} />
      <p className="text-row tabular-nums">
        {filesText(fileCount)}, {linesText(added, deleted)}
      </p>
      <Conflicts changes={changes} />
      {missingCount > 0 && <Warning>The work of {tasksText(missingCount)} is no longer in it.</Warning>}
      {cut !== null && <Warning>{cut}</Warning>}
      <ChangedFiles changes={listed} hasKeys={hasKeys} of={{ missionId, repository }} opensFirst={false} />
      <MergeCommands changes={changes} />
    </div>
  )
}

const Warning = ({ children }: { children: React.ReactNode }) => (
  <p className="flex gap-2 text-row font-medium text-ask" role="alert">
    <Icon className="mt-0.5 shrink-0" name="warning" size={14} />
    <span className="min-w-0 break-words">{children}</span>
  </p>
)

/** Branches that no other one contains: to merge them is to merge all. */
function Branches({ changes: { branches, branchCount } }: { changes: RepositoryChanges }) {
  return (
    <ul aria-label="Branches" className="flex min-w-0 flex-col gap-1 text-row">
      {branches.map(({ branch, taskId, title }) => (
        <li className="flex min-w-0 flex-wrap items-baseline gap-x-3" key={branch}>
          <Copyable text={branch} />
          <span className="min-w-0 truncate text-muted">
            {nameOfTask(taskId, undefined)} {title}
          </span>
        </li>
      ))}
      {branchCount > branches.length && (
        <li className="text-label text-muted">
          These are the first {countText(branches.length)} of {countText(branchCount)} branches.
        </li>
      )}
    </ul>
  )
}

const Conflicts = ({ changes: { conflicts } }: { changes: RepositoryChanges }) =>
  conflicts.map(({ branches, withBase, files, fileCount }) => (
    <Warning key={branches.join(' ')}>
      {branches.join(' and ')} {branches.length === 1 ? 'conflicts' : 'conflict'}
      {withBase ? ' with the base, which has changed since' : ''}: {files.slice(0, 3).join(', ')}
      {fileCount > 3 && ` and ${filesText(fileCount - 3)} more`}
    </Warning>
  ))

/** Only for those who may choose the folders of agents: the server sends it to nobody else. */
function MergeCommands({ changes: { mergeCommands } }: { changes: RepositoryChanges }) {
  if (!mergeCommands || mergeCommands.length === 0) return null
  return (
    <div className="flex min-w-0 flex-col gap-1 text-row">
      <span className="text-muted">Merge it into the branch that is checked out in the repository</span>
      <Copyable isBlock text={mergeCommands.join('\n')} />
    </div>
  )
}
