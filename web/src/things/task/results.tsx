import { useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { ERRORS } from '../../../../src/pure/errors.ts'
import { about } from '../../live/about.ts'
import { payloadField } from '../../live/card.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { AgentChip } from '../../parts/agent-chip.tsx'
import { Button } from '../../parts/button.tsx'
import { Chip } from '../../parts/chip.tsx'
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { api } from '../../requests/api.ts'
import { promoteResult } from '../../requests/task-decisions.ts'
import { shortCommit } from '../changes/work-words.ts'
import { useAct } from '../use-act.ts'
import { actorName } from './activity/entries.ts'
import { useActivity } from './activity/use-activity.ts'
import { ResultDifference } from './result-difference.tsx'
import type { Task } from './use-task.ts'
import { ValueText } from './value-text.tsx'
import { Verdicts } from './verdicts.tsx'

type Result = AnswerTo<'GET', '/tasks/:id/results'>['items'][number]

const useResults = (id: string) =>
  useSnapshot(
    ['task-results', id],
    ({ signal }) => api().read('/tasks/:id/results', { params: { id }, signal }),
    { follows: about.task(id) },
  )

/** Everything that was handed in, the newest first. Rejected results are kept: they can be compared and promoted. */
export function Results(props: {
  task: Task
  compared: string | null
  onCompare: (ref: string | null) => void
}) {
  const { task, compared, onCompare } = props
  const read = useResults(task.id)
  const { data } = read
  if (!data) return <Loading read={read} rowHeight={72} rows={2} />
  if (data.items.length === 0)
    return (
      <Empty
        drawing="tray"
        text="Every result that is submitted is kept here, accepted or not."
        title="No result yet"
      />
    )
  const newestFirst = data.items.toSorted((a, b) => (a.submittedAt < b.submittedAt ? 1 : -1))
  const hasAccepted = newestFirst.some(({ accepted }) => accepted === true)
  return (
    <ol aria-label="Results" className="flex flex-col gap-6">
      {newestFirst.map((result) => (
        <li className="flex min-w-0 flex-col gap-2" key={result.workProductRef}>
          <ResultHead
            canCompare={hasAccepted && result.accepted !== true}
            isCompared={compared === result.workProductRef}
            onCompare={onCompare}
            result={result}
            task={task}
          />
          {result.summary && (
            <div className="max-w-prose wrap-anywhere">
              <Markdown text={result.summary} />
            </div>
          )}
          {result.rejectionReason && <Rejection result={result} task={task} />}
          {compared === result.workProductRef ? (
            <ResultDifference resultRef={result.workProductRef} taskId={task.id} />
          ) : (
            <ValueText label={`Result no. ${result.generation}`} value={result.result} />
          )}
          <Verdicts
            verdicts={task.verifications.filter(({ generation }) => generation === result.generation)}
          />
        </li>
      ))}
    </ol>
  )
}

/** What a code says in words. Codes of refusals have titles of their own. */
const CODES: Record<string, string> = {
  HUMAN_REJECTED: 'Rejected by a person',
  VERIFICATION_FAILED: 'Rejected by its verification',
  RETRIED: 'Given up: the task was tried again',
  CANCELLED: 'Given up: the task was cancelled',
  SKIPPED: 'Given up: the task was skipped',
  REPLACED: 'Replaced by another result',
}

const codeWords = (code: string) =>
  CODES[code] ??
  (Object.hasOwn(ERRORS, code)
    ? `Rejected: ${ERRORS[code as keyof typeof ERRORS].title}`
    : `Rejected: ${code}`)

/** Why it was not accepted: in the words of who rejected it, where there are any. */
function Rejection({ task, result }: { task: Task; result: Result }) {
  const { data } = useActivity(task.id)
  const said = data?.events.find(
    ({ type, generation }) =>
      generation === result.generation && (type === 'task_human_rejected' || type === 'task_failed'),
  )
  const isByPerson = result.rejectionReason === 'HUMAN_REJECTED'
  const reason = isByPerson && said ? (payloadField(said, 'comment', 'string') ?? null) : null
  return (
    <div className="text-row wrap-anywhere text-bad">
      {codeWords(result.rejectionReason!)}
      {isByPerson && said && <span> ({actorName(said.by)})</span>}
      {reason && (
        <div className="mt-1 text-ink">
          <Markdown text={reason} />
        </div>
      )}
    </div>
  )
}

function Standing({ accepted }: { accepted: boolean | null }) {
  if (accepted === null) return <Chip hue="ask">waiting for review</Chip>
  return accepted ? <Chip hue="done">accepted</Chip> : <Chip hue="bad">rejected</Chip>
}

function ResultHead(props: {
  task: Task
  result: Result
  canCompare: boolean
  isCompared: boolean
  onCompare: (ref: string | null) => void
}) {
  const { task, result, canCompare, isCompared, onCompare } = props
  return (
    <header className="flex flex-wrap items-center gap-x-3 gap-y-1 text-row">
      <span className="font-medium">No. {result.generation}</span>
      {result.agent && <AgentChip slug={result.agent} />}
      <Standing accepted={result.accepted} />
      {result.commit && <Copyable shown={shortCommit(result.commit)} text={result.commit} />}
      <span className="text-muted">
        <Moment at={result.submittedAt} />
      </span>
      <span className="ml-auto flex flex-wrap gap-2">
        {canCompare && (
          <Button onClick={() => onCompare(isCompared ? null : result.workProductRef)} size="small">
            {isCompared ? 'Show the result' : 'Compare with the accepted one'}
          </Button>
        )}
        {result.accepted === false && <Promote result={result} task={task} />}
      </span>
    </header>
  )
}

function Promote({ task, result }: { task: Task; result: Result }) {
  const [isAsked, setAsked] = useState(false)
  const promote = useAct(
    (reason: string) => promoteResult(task.id, result.workProductRef, reason),
    `Result no. ${result.generation} is accepted now.`,
  )
  return (
    <>
      <Button disabledReason={promote.whyNot} onClick={() => setAsked(true)} size="small">
        Promote
      </Button>
      <ConfirmDialog
        confirm="Promote result"
        draft={`${task.id} ${result.workProductRef}`}
        onClose={() => setAsked(false)}
        onConfirm={(reason) => promote.run(reason)}
        open={isAsked}
        reason="required"
        text="It becomes the accepted result. The previous one stays in the list, and the agent working on the task loses it."
        title={`Promote result no. ${result.generation}?`}
      />
    </>
  )
}
