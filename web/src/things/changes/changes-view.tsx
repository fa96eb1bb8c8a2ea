import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { Problem } from '../../../../src/client/client.ts'
import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Segmented } from '../../parts/segmented.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { ChangedFiles } from './changed-files.tsx'
import { type Changes, type ChangesOf, type Folder, type Since, useChanges } from './use-changes.ts'
import { WorkNotes } from './work-notes.tsx'
import { continuesText, filesText, linesText, shortCommit } from './work-words.ts'

interface Props {
  of: ChangesOf
  continues?: Folder['continues']
  hasNotes?: boolean
  /**
   * To be approved: the commit that the result names, and whether keys open the files. Notes come after the verdicts there, and
   * no file is open from the beginning, which would be one more request.
   */
  review?: { commit: string; hasKeys: boolean }
}

/** What was done in a repository: branch and commits, files with their diffs, what is missing, where it is. */
export function ChangesView({ of, continues = null, hasNotes = true, review }: Props) {
  const [since, setSince] = useState<Since>('base')
  const { data, error, refetch } = useChanges(of, since)
  const generation = 'generation' in of ? of.generation : (data?.generation ?? 1)
  const isLaterAttempt = continues !== null || generation > 1
  if (error) return <Unavailable error={error} onRetry={() => void refetch()} />
  return (
    <div className="flex min-w-0 flex-col gap-3">
      {data && <Places changes={data} continues={continues} />}
      {data && review && review.commit !== data.commit && (
        <p className="flex gap-2 text-row font-medium text-ask" role="alert">
          <Icon className="mt-0.5 shrink-0" name="warning" size={14} />
          The result is of commit {shortCommit(review.commit)}; these are the changes of{' '}
          {shortCommit(data.commit)}.
        </p>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-row">
        {isLaterAttempt && (
          <Segmented
            label="Compared with"
            onChange={setSince}
            options={[
              { value: 'base', words: 'The whole task' },
              { value: 'attempt', words: 'New in this attempt' },
            ]}
            value={since}
          />
        )}
        {data && <Total changes={data} of={of} />}
      </div>
      {data && since === 'attempt' && data.from === data.baseCommit && (
        <p className="text-row text-muted">This attempt started from the base: all of it is new.</p>
      )}
      {data ? (
        <ChangedFiles
          changes={data}
          hasKeys={review?.hasKeys ?? false}
          key={since}
          of={of}
          opensFirst={!review}
        />
      ) : (
        <Skeleton rows={4} />
      )}
      {data && hasNotes && !review && <WorkNotes gaps={data} />}
      {data && !review && <Whereabouts changes={data} />}
    </div>
  )
}

/** Branch, commit and base, each to copy. */
function Places({ changes, continues }: { changes: Changes; continues: Folder['continues'] }) {
  const { branch, commit, from, since } = changes
  return (
    <dl className="flex min-w-0 flex-wrap gap-x-5 gap-y-1 text-row">
      <Place words="Branch">
        <Copyable text={branch} />
      </Place>
      <Place words="Commit">
        <Commit of={commit} />
      </Place>
      <Place words={since === 'base' ? 'Base' : 'Attempt before'}>
        <Commit of={from} />
      </Place>
      {continues && (
        <Place words="Continues">
          <span>{continuesText(continues)}</span>
        </Place>
      )}
    </dl>
  )
}

const Commit = ({ of }: { of: string }) => (
  <span className="shrink-0">
    <Copyable shown={shortCommit(of)} text={of} />
  </span>
)

const Place = ({ words, children }: { words: string; children: ReactNode }) => (
  <div className="flex min-w-0 items-baseline gap-2">
    <dt className="shrink-0 text-muted">{words}</dt>
    <dd className="flex min-w-0">{children}</dd>
  </div>
)

function Total({ changes, of }: { changes: Changes; of: ChangesOf }) {
  const queries = useQueryClient()
  const { fileCount, added, deleted, isUncommittedIncluded } = changes
  return (
    <>
      <span className="tabular-nums">
        {filesText(fileCount)}, {linesText(added, deleted)}
      </span>
      {isUncommittedIncluded && (
        <>
          <span className="text-muted">With files that are not committed, as they are now.</span>
          <Button
            icon="retry"
            kind="quiet"
            onClick={() => void queries.invalidateQueries({ queryKey: ['changes', of] })}
            size="small"
          >
            Check again
          </Button>
        </>
      )}
    </>
  )
}

/** Only for those who may choose the folders of agents: the server sends it to nobody else. */
function Whereabouts({ changes: { folder, mergeCommand } }: { changes: Changes }) {
  if (folder === null && mergeCommand === null) return null
  return (
    <dl className="flex min-w-0 flex-col gap-2 text-row">
      {folder !== null && (
        <Place words="Folder">
          <Copyable text={folder} />
        </Place>
      )}
      {mergeCommand !== null && (
        <div className="flex min-w-0 flex-col gap-1">
          <dt className="text-muted">Merge it into the branch that is checked out in the repository</dt>
          <dd>
            <Copyable isBlock text={mergeCommand} />
          </dd>
        </div>
      )}
    </dl>
  )
}

/** Not a fault of the page: the work is on another node, or no longer there. */
function Unavailable({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error instanceof Problem && error.code === 'CHANGES_UNAVAILABLE')
    return (
      <Empty
        action={
          <Button icon="retry" onClick={onRetry} size="small">
            Check again
          </Button>
        }
        drawing="path"
        text={error.detail}
        title="The changes cannot be shown here"
      />
    )
  return <ProblemBox error={error} onRetry={onRetry} />
}
