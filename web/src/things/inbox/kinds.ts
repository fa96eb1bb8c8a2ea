import type { AnswerTo } from '../../../../src/client/client.ts'
import type { InboxKind } from '../../../../src/kinds/task/rules/waiting.ts'
import { countText, isNoVerdict, plainWords } from '../../parts/wording.ts'
import type { IconName } from '../../theme/icons.ts'
import type { Hue } from '../../theme/marks.ts'
import { SEVERITY_LOOKS } from '../alert/severity.ts'

/** What waits, by the words of the page. Pure. */

export type InboxItem = AnswerTo<'GET', '/inbox'>['items'][number]
export type InboxDetail = AnswerTo<'GET', '/inbox/:id'>
export type Decision = InboxItem['actions'][number]

export const INBOX_TABS = ['approvals', 'questions', 'results', 'budgets', 'problems', 'finished'] as const
export type InboxTab = (typeof INBOX_TABS)[number]
/** What older addresses call some of them. */
export const OLDER_INBOX_TABS = { trouble: 'problems' } as const satisfies Record<string, InboxTab>

export const TAB_WORDS: Record<InboxTab, string> = {
  approvals: 'Approvals',
  questions: 'Questions',
  results: 'Results',
  budgets: 'Budgets',
  problems: 'Problems',
  finished: 'Finished',
}

export const KINDS: Record<InboxKind, { tab: InboxTab; words: string; icon: IconName; hue: Hue }> = {
  plan: { tab: 'approvals', words: 'Plan', icon: 'missions', hue: 'ask' },
  question: { tab: 'questions', words: 'Question', icon: 'comment', hue: 'ask' },
  review: { tab: 'results', words: 'Result', icon: 'eye', hue: 'held' },
  budget: { tab: 'budgets', words: 'Budget', icon: 'budgets', hue: 'ask' },
  dead_letter: { tab: 'problems', words: 'Out of attempts', icon: 'warning', hue: 'bad' },
  outcome: { tab: 'approvals', words: 'Outcome', icon: 'missions', hue: 'ask' },
  agent: { tab: 'problems', words: 'Agent', icon: 'warning', hue: 'bad' },
  alert: { tab: 'problems', words: 'No agent takes it', icon: 'warning', hue: 'bad' },
  finished: { tab: 'finished', words: 'Finished', icon: 'check', hue: 'done' },
}

/** How an item looks; a mission that failed looks like a failure. */
export const lookOf = ({ kind, end, alert }: Pick<InboxItem, 'kind' | 'end' | 'alert'>) =>
  alert
    ? {
        ...KINDS[kind],
        ...SEVERITY_LOOKS[alert.severity],
        words: `${SEVERITY_LOOKS[alert.severity].words} alert`,
      }
    : end === 'failed'
      ? { ...KINDS[kind], icon: 'warning' as const, hue: 'bad' as const }
      : KINDS[kind]

/** What is asked, in one line. */
export function headline(item: InboxItem): string {
  const { kind, title, digest, askedBy, preview, about, end, actions, alert } = item
  switch (kind) {
    case 'plan':
      return digest === null ? `No plan could be made: ${title}` : `Approve the plan: ${title}`
    case 'question':
      return `${askedBy ?? 'An agent'} asks: ${plainWords(preview ?? title)}`
    case 'review':
      return digest === null ? `Decide how to continue: ${title}` : `Review the result: ${title}`
    case 'budget':
      if (about.budgetId === null) return `The budget is spent: ${title}`
      return actions.includes('allow') ? `${title}: a model has no price` : `${title} is spent`
    case 'outcome':
      return `Accept the outcome: ${title}`
    case 'dead_letter':
      return `Every attempt failed: ${title}`
    case 'agent':
      return `${about.agent ?? title} stopped`
    case 'alert':
      return alert ? title : `No agent takes: ${title}`
    case 'finished':
      return `${end === 'failed' ? 'Failed' : 'Completed'}: ${title}`
  }
}

export const blocksWords = (blocks: number) =>
  blocks === 0
    ? 'blocks nothing else'
    : `blocks ${blocks >= 1_000 ? '1,000 or more' : countText(blocks)} ${blocks === 1 ? 'task' : 'tasks'}`

/** What each decision is called on its button, and once it was made. */
export const DECISIONS: Record<Decision, { words: string; done: string }> = {
  approve: { words: 'Approve', done: 'Approved' },
  reject: { words: 'Reject', done: 'Rejected' },
  replan: { words: 'Ask for another plan', done: 'Another plan is being made' },
  fail: { words: 'Reject for good', done: 'Rejected for good' },
  verify: { words: 'Verify again', done: 'It is being verified' },
  answer: { words: 'Answer', done: 'Answered' },
  retry: { words: 'Try again', done: 'Queued again' },
  resume: { words: 'Resume', done: 'Resumed' },
  raise: { words: 'Raise the budget', done: 'Budget raised' },
  move: { words: 'Move from another budget', done: 'Moved' },
  allow: { words: 'Allow the model', done: 'Model allowed' },
  release: { words: 'Let any agent take it', done: 'Any agent may take it' },
  archive: { words: 'Archive', done: 'Archived' },
  pause: { words: 'Pause the agent', done: 'Agent paused' },
  terminate: { words: 'Terminate the agent', done: 'Agent terminated' },
  skip: { words: 'Skip the task', done: 'Task skipped' },
  cancel: { words: 'Cancel', done: 'Cancelled' },
  seen: { words: 'Mark as seen', done: 'Seen' },
  acknowledge: { words: 'Acknowledge', done: 'Acknowledged' },
}

/** "Cancel" alone would not say what is cancelled, nor "Resume" what is resumed. */
export function buttonWords(decision: Decision, { about, kind, waitsFor }: InboxItem): string {
  if (decision === 'resume' && waitsFor !== null)
    return kind === 'review' ? `Resume ${waitsFor} and verify` : `Resume ${waitsFor}`
  if (kind === 'outcome' && decision === 'approve') return 'Accept'
  if (kind === 'outcome' && decision === 'reject') return 'Reject, and plan it myself'
  if (kind === 'outcome' && decision === 'replan') return 'Reject, and let its planner plan'
  if (decision === 'verify') return waitsFor === null ? 'Verify again' : 'Let another agent verify'
  if (decision !== 'cancel') return DECISIONS[decision].words
  if (about.budgetId !== null) return 'Cancel what it has stopped'
  return about.taskId === null ? 'Cancel the mission' : 'Cancel the task'
}

/** The decision that lets it continue, which `a` takes. Cancelling is never one. */
const WAYS_ON: readonly Decision[] = [
  'approve',
  'answer',
  'raise',
  'allow',
  'retry',
  'resume',
  'release',
  'seen',
  'acknowledge',
]
export const wayOn = (actions: readonly Decision[]): Decision | null =>
  WAYS_ON.find((one) => actions.includes(one)) ?? null

/** What `r` does: with a reason, which the next attempt gets. */
export const wayBack = (actions: readonly Decision[]): Decision | null =>
  (['reject'] as const).find((one) => actions.includes(one)) ?? null

/** Ways on that involve another agent, or the one that is waited for: shown beside the first one. */
const OTHER_WAYS: readonly Decision[] = ['verify', 'resume', 'release']
export const otherWays = ({ actions, waitsFor, reason }: InboxItem): Decision[] =>
  // A result that was judged can be verified again, but that is not what its reader looks for.
  waitsFor === null && !isNoVerdict(reason)
    ? []
    : OTHER_WAYS.filter((one) => one !== wayOn(actions) && actions.includes(one))

/** Decisions that need words as well, so they are not taken for several items at once. */
const NEEDS_WORDS: readonly Decision[] = ['answer', 'raise', 'move']
export const canBeTogether = (decision: Decision) => !NEEDS_WORDS.includes(decision)

/** What cannot be undone asks for confirmation. */
const ASKED: readonly Decision[] = [
  'reject',
  'replan',
  'fail',
  'archive',
  'pause',
  'terminate',
  'skip',
  'cancel',
]
export const isAsked = (decision: Decision) => ASKED.includes(decision)

/** The next attempt of a task continues the work so far, or starts over. */
export const canStartOver = (decision: Decision, { about }: InboxItem) =>
  about.taskId !== null && (decision === 'reject' || decision === 'retry')
