import type { ReactNode } from 'react'
import { ADAPTER_WORDS, WAKEUP_WORDS, wordsOf } from '../../../../src/pure/code-words.ts'
import { PageLink } from '../../links.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Moment } from '../../parts/moment.tsx'
import { bytesText, durationText } from '../../parts/wording.ts'
import type { Folder } from '../../things/changes/use-changes.ts'
import { continuesText, figuresText, filesText } from '../../things/changes/work-words.ts'
import type { Run, RunEvent } from './use-run.ts'

/** What is known of a run, by subject. What is not known is left out when it is drawn. */

export type Facts = readonly (readonly [words: string, value: ReactNode])[]

type Payload = Record<string, unknown>
const text = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const copyable = (value: string | null, shownLength?: number) =>
  value &&
  (shownLength === undefined ? (
    <Copyable text={value} />
  ) : (
    <Copyable shown={value.slice(0, shownLength)} text={value} />
  ))

/** The first event of the run says what the program was started with. */
export const begunWith = (events: readonly RunEvent[]) =>
  (events.find(({ type, message }) => type === 'lifecycle' && message === 'running')?.payload ??
    {}) as Payload

export const programFacts = (run: Run, { timeoutSec }: Payload): Facts => [
  ['Type', wordsOf(ADAPTER_WORDS, run.adapterType)],
  ['Model', run.model],
  ['Provider', run.provider],
  ['Process', run.pid],
  ['Exit code', run.exitCode],
  ['Signal', run.signal],
  ['Time limit', typeof timeoutSec === 'number' ? durationText(timeoutSec * 1_000) : null],
]

export const wakeupFacts = (run: Run): Facts => [
  ['Why', run.reason],
  ['Woken', wordsOf(WAKEUP_WORDS, run.source)],
  ['Queued', <Moment at={run.createdAt} key="queued" />],
  ['Started', run.startedAt && <Moment at={run.startedAt} />],
  ['Ended', run.finishedAt && <Moment at={run.finishedAt} />],
  ['Took', run.durationMs === null ? null : durationText(run.durationMs)],
]

export function folderFacts({ folder }: Run, { cwd }: Payload): Facts {
  const { worktree, saved, continues, work, cleaned, notSaved } = folder ?? {}
  return [
    ['Folder', copyable(text(cwd) ?? folder?.path ?? null)],
    ['Branch', copyable(worktree?.branch ?? null)],
    ['Commit', copyable(saved?.commit ?? null, 10) ?? (notSaved ? 'The work could not be saved' : null)],
    ['Base', copyable(worktree?.baseCommit ?? null, 10)],
    ['Continues', continues && continuesText(continues)],
    ['Saved', saved && savedWords(saved.committedFiles)],
    ['Whole work', work && figuresText(work.whole)],
    ['This attempt', work && continues && figuresText(work.attempt)],
    ['Removed', cleaned && removedWords(cleaned)],
  ]
}

const savedWords = (committedFiles: number) =>
  committedFiles === 0
    ? 'The agent had committed everything'
    : `Baton committed ${filesText(committedFiles)} that the agent had not`

type Cleaned = NonNullable<Folder['cleaned']>
const removedWords = ({ isRemoved, isBranchDeleted, why }: Cleaned) =>
  isRemoved
    ? `The folder${isBranchDeleted ? ' and its branch, which had no changes' : '; its branch is kept'}`
    : `No${why === null ? '' : `: ${why}`}`

export const sessionFacts = (run: Run): Facts => [
  ['Session before', copyable(run.sessionIdBefore)],
  ['Session after', copyable(run.sessionIdAfter)],
  ['Node', copyable(run.nodeId, 8)],
  ['Run', copyable(run.id, 8)],
  [
    'Agent',
    <PageLink className="text-accent hover:underline" key="agent" to={`/agents/${run.agent}`}>
      {run.agent}
    </PageLink>,
  ],
]

const STORE_WORDS = {
  local_file: 'a file on its node',
  object_store: 'object storage',
  postgres: 'the database',
}
const LOG_STATES = { writing: 'is being written', available: 'complete', log_unavailable: 'not available' }

export function logFacts({ log }: Run): Facts {
  if (!log) return [['Log', 'none: the run never started']]
  return [
    ['Kept in', wordsOf(STORE_WORDS, log.store)],
    ['Size', log.bytes === null ? null : bytesText(log.bytes)],
    ['State', LOG_STATES[log.status]],
    ['Cut', log.truncated ? 'The rest was not stored' : null],
    ['SHA-256', copyable(log.sha256, 16)],
  ]
}
