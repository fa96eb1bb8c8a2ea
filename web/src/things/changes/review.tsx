import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { AnswerTo } from '../../../../src/client/client.ts'
import { Button } from '../../parts/button.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Loading } from '../../parts/loaded.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { api } from '../../requests/api.ts'
import { textOfValue, ValueText } from '../task/value-text.tsx'
import { Verdicts } from '../task/verdicts.tsx'
import { ChangesView } from './changes-view.tsx'
import { type ChangesOf, useChanges } from './use-changes.ts'
import { WorkNotes } from './work-notes.tsx'

type Task = AnswerTo<'GET', '/tasks/:id'>
type Result = AnswerTo<'GET', '/tasks/:id/results'>['items'][number]
type AskedTask = Pick<Task, 'id' | 'title' | 'description' | 'plan' | 'verification'>

interface Reviewed {
  task: AskedTask
  /** Generation of the attempt that is judged. */
  generation: number
  /** What it was seen with: other work is read again. */
  digest: string | null
  /** Why it waits. */
  reason?: string | null
  hasKeys?: boolean
}

/** What a person needs to decide about a result, in this order: asked, done, changed, checked, missing. */
export function Review(props: Reviewed) {
  const { task, generation, digest, reason = null, hasKeys = false } = props
  const { id } = task
  // Only these can have been judged by somebody else than a person.
  const isVerified = task.verification !== null && task.verification.kind !== 'human'
  const read = useQuery({
    queryKey: ['review', id, generation, digest],
    queryFn: async ({ signal }) => {
      const [results, read] = await Promise.all([
        api().get('/tasks/:id/results', { params: { id }, signal }),
        isVerified ? api().get('/tasks/:id', { params: { id }, signal }) : null,
      ])
      return { ...judgedOf(results.items, generation), verifications: read?.verifications ?? [] }
    },
    gcTime: 0,
  })
  const { data } = read
  const commit = data?.judged?.commit ?? null
  const of: ChangesOf = { taskId: id, generation }
  return (
    <div className="flex min-w-0 flex-col gap-5">
      {reason !== null && <p className="break-words text-muted">{reason}</p>}
      <WhatWasAsked task={task} />
      {!data && <Loading read={read} rows={4} />}
      {data && (
        <>
          <WhatWasDone before={data.before} judged={data.judged} />
          <Part title="Changes">
            {commit === null ? (
              <p className="text-row text-muted">
                It was not done in a git worktree that Baton made, so there is no diff.
              </p>
            ) : (
              <ChangesView of={of} review={{ commit, hasKeys }} />
            )}
          </Part>
          <Part title="Checks">
            {data.verifications.some((one) => one.generation === generation) ? (
              <Verdicts verdicts={data.verifications.filter((one) => one.generation === generation)} />
            ) : (
              <p className="text-row text-muted">No agent or check has reviewed it.</p>
            )}
          </Part>
          {commit !== null && <NotesOf of={of} />}
        </>
      )}
    </div>
  )
}

/** The result that is judged, and the one before it. */
export function judgedOf(results: readonly Result[], generation: number) {
  const newestFirst = results.toSorted((a, b) => (a.submittedAt < b.submittedAt ? 1 : -1))
  const judged =
    newestFirst.find((one) => one.generation === generation && one.accepted === null) ??
    newestFirst.find((one) => one.generation === generation)
  const before = newestFirst.find((one) => judged && one !== judged && one.generation < judged.generation)
  return { judged: judged ?? null, before: before ?? null }
}

export const Part = ({ title, children }: { title: string; children: ReactNode }) => (
  <section aria-label={title} className="flex min-w-0 flex-col gap-1.5">
    <h3 className="text-label font-medium text-muted">{title}</h3>
    {children}
  </section>
)

function WhatWasAsked({ task }: { task: AskedTask }) {
  const criteria = task.plan?.successCriteria ?? null
  return (
    <Part title="What was asked">
      <p className="font-medium break-words">{task.title}</p>
      {task.description && <Bounded text={task.description} />}
      {criteria && (
        <>
          <h4 className="mt-1 text-label font-medium text-muted">Success criteria</h4>
          <Bounded text={criteria} />
        </>
      )}
      {!task.description && !criteria && (
        <p className="text-row text-muted">It has no description and no success criteria.</p>
      )}
    </Part>
  )
}

const SHORT_CHARACTERS = 900

/** A long text, its beginning first. */
function Bounded({ text }: { text: string }) {
  const [isWhole, setIsWhole] = useState(text.length <= SHORT_CHARACTERS * 1.5)
  return (
    <div className="max-w-prose">
      <Markdown text={isWhole ? text : `${text.slice(0, SHORT_CHARACTERS)}…`} />
      {!isWhole && (
        <Button className="-ml-2" kind="quiet" onClick={() => setIsWhole(true)} size="small">
          Show all of it
        </Button>
      )}
    </div>
  )
}

function WhatWasDone({ judged, before }: { judged: Result | null; before: Result | null }) {
  if (judged === null)
    return (
      <Part title="Result">
        <p className="text-row text-muted">This attempt submitted no result.</p>
      </Part>
    )
  return (
    <Part title="Result">
      {judged.summary && (
        <div className="max-w-prose">
          <Markdown text={judged.summary} />
        </div>
      )}
      {judged.result !== null && judged.result !== undefined && (
        <ValueText label="What was submitted" value={judged.result} />
      )}
      {before && textOfValue(before.result) !== textOfValue(judged.result) && (
        <details>
          <summary className="touchable cursor-pointer text-row text-muted hover:text-ink">
            Compare it with the result of attempt {before.generation}
          </summary>
          <div className="mt-2">
            <Diff after={textOfValue(judged.result)} before={textOfValue(before.result)} label="Result" />
          </div>
        </details>
      )}
    </Part>
  )
}

/** The same answer as above, which is read once. */
function NotesOf({ of }: { of: ChangesOf }) {
  const { data } = useChanges(of, 'base')
  return data ? <WorkNotes gaps={data} /> : null
}

/** The same in a dialog, where only the id of the task is known. */
export function ReviewOfTask(props: { taskId: string; generation: number; digest: string | null }) {
  const { taskId: id, generation, digest } = props
  const read = useQuery({
    queryKey: ['reviewed-task', id],
    queryFn: ({ signal }) => api().get('/tasks/:id', { params: { id }, signal }),
    gcTime: 0,
  })
  const { data } = read
  if (!data) return <Loading read={read} rows={5} />
  return <Review digest={digest} generation={generation} task={data} />
}
