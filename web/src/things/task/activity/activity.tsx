import { useDraft } from '../../../parts/drafts.ts'
import { Loading } from '../../../parts/loaded.tsx'
import { Segmented } from '../../../parts/segmented.tsx'
import { CommentBox } from '../comments.tsx'
import { type ShownTask, type Task, type TaskRun, useTaskRuns } from '../use-task.ts'
import { type Entry, entriesOf } from './entries.ts'
import { EntryRow } from './entry-row.tsx'
import { RunLine } from './run-line.tsx'
import { useActivity } from './use-activity.ts'

/** All that happened to the task, as people say it, and the place to say more. */
export function Activity(props: {
  task: Task
  now: ShownTask
  isOldestFirst: boolean
  onOrder: (isOldestFirst: boolean) => void
}) {
  const { task, now, isOldestFirst, onOrder } = props
  const read = useActivity(task.id)
  const runs = useTaskRuns(task.id)
  const answered = useDraft<string | null>(`reply:${task.id}`, null)
  if (!read.data) return <Loading read={read} rowHeight={44} rows={5} />
  const { events, isComplete } = read.data
  const shown = withRuns(entriesOf(events), runs.data?.items ?? [])
  const ordered = isOldestFirst ? shown : shown.toReversed()
  const replied = shown.find(({ entry }) => entry.commentId && entry.commentId === answered.value)?.entry
  const replyTo = replied?.commentId
    ? { id: replied.commentId, author: replied.who!, text: replied.text ?? '' }
    : null
  const box = <CommentBox now={now} onDone={answered.drop} replyTo={replyTo} task={task} />
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <div className="flex flex-wrap items-center gap-3">
        <Segmented
          label="Order"
          onChange={(order) => onOrder(order === 'oldest')}
          options={[
            { value: 'newest', words: 'Newest first' },
            { value: 'oldest', words: 'Oldest first' },
          ]}
          value={isOldestFirst ? 'oldest' : 'newest'}
        />
        {!isComplete && (
          <p className="text-label text-muted">The first 2,000 are shown. Events has all of them.</p>
        )}
      </div>
      {!isOldestFirst && box}
      <ol aria-label="Activity" className="flex min-w-0 flex-col">
        {ordered.map(({ entry, runs }) => (
          <EntryRow entry={entry} key={entry.key} onReply={answered.set} taskId={task.id}>
            {runs.map((run) => (
              <RunLine key={run.id} run={run} />
            ))}
          </EntryRow>
        ))}
      </ol>
      {isOldestFirst && box}
    </div>
  )
}

interface Shown {
  entry: Entry
  runs: readonly TaskRun[]
}

/** Runs are shown where their attempt begins; those of no attempt, when they were requested. */
function withRuns(entries: readonly Entry[], runs: readonly TaskRun[]): Shown[] {
  const opened = new Set(entries.map(({ opens }) => opens))
  const oldestFirst = runs.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const own = entries.map((entry): Shown => {
    const { opens } = entry
    return { entry, runs: opens === undefined ? [] : oldestFirst.filter((run) => run.generation === opens) }
  })
  const others = oldestFirst
    .filter(({ generation }) => generation === null || !opened.has(generation))
    .map(
      (run): Shown => ({
        entry: { key: run.id, at: run.createdAt, who: null, words: `${run.agent} was woken`, icon: 'play' },
        runs: [run],
      }),
    )
  if (others.length === 0) return own
  return [...own, ...others].sort((a, b) => Date.parse(a.entry.at) - Date.parse(b.entry.at))
}
