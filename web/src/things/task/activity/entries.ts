import type { EventType } from '../../../../../src/kinds/events.ts'
import { type LiveEvent, payloadField } from '../../../live/card.ts'
import type { IconName } from '../../../theme/icons.ts'
import type { Hue } from '../../../theme/marks.ts'
import { changeWords } from './change-words.ts'

/** What happened to a task, in words, from its events. Pure. */

export interface Entry {
  readonly key: string
  readonly at: string
  /** The actor: its name begins the sentence. Null: the sentence has its own subject. */
  readonly who: LiveEvent['by'] | null
  readonly words: string
  readonly icon: IconName
  readonly hue?: Hue | undefined
  /** What was written, in full. */
  readonly text?: string | undefined
  /** What a program said when it failed: no Markdown. */
  readonly error?: string | undefined
  /** What it answers. */
  readonly quoted?: string | undefined
  readonly options?: readonly string[] | undefined
  /** Its text is longer than its event: the thread has it. */
  readonly longComment?: string | undefined
  readonly commentId?: string | undefined
  /** The comment that it replies to: it is quoted. */
  readonly replyTo?: string | undefined
  /** The claim that it began: its runs are listed there. */
  readonly opens?: number | undefined
}

type Said = Omit<Entry, 'key' | 'at' | 'who'> & { isPassive?: boolean }
type Words = (event: LiveEvent) => Said

const text = (event: LiveEvent, ...names: string[]): string | undefined => {
  for (const name of names) {
    const value = payloadField(event, name, 'string')
    if (value !== undefined && value !== '') return value
  }
  return undefined
}
const attemptOf = (event: LiveEvent) => payloadField(event, 'attempt', 'number') ?? 1
const agentOf = (event: LiveEvent) => payloadField(event, 'agent', 'string') ?? 'Its agent'
const score = (event: LiveEvent) => {
  const given = payloadField(event, 'score', 'number')
  return given === undefined ? '' : `, score ${given}`
}

/** An act of a person or an agent: “owner paused it”. */
const act =
  (words: string, icon: IconName, hue?: Hue): Words =>
  (event) => ({ words, icon, hue, text: text(event, 'reason', 'comment', 'because') })
/** What happened by itself. */
const happened =
  (words: (event: LiveEvent) => string, icon: IconName, hue?: Hue, ...texts: string[]): Words =>
  (event) => ({
    ...{ words: words(event), icon, hue, isPassive: true },
    ...{ error: text(event, 'error'), text: text(event, ...texts) },
  })

const lost = (how: string) => happened((event) => `${agentOf(event)} lost the task: ${how}`, 'warning', 'bad')

const verdict = (words: string, hue: Hue): Words => {
  return (event) => {
    const verifier = text(event, 'verifier')
    return {
      words: `${verifier ?? 'The verification'} ${words}${score(event)}`,
      icon: hue === 'done' ? 'check' : 'close',
      hue,
      text: text(event, 'verdict'),
      isPassive: true,
    }
  }
}

/** Types that people read. The rest is in the log of events. */
const WORDS: Partial<Record<EventType, Words>> = {
  task_created: act('created the task', 'plus'),
  comment_added: (event) => ({
    words: event.payload.toHolder === true ? 'told the agent' : 'commented',
    icon: 'comment',
    text: text(event, 'preview'),
    commentId: text(event, 'commentId'),
    replyTo: text(event, 'replyTo'),
    ...(event.payload.isWhole === false && { longComment: text(event, 'commentId') }),
  }),
  task_human_review_requested: (event) => {
    const question = text(event, 'question')
    if (question === undefined)
      return {
        ...{ words: 'The result is waiting for a person’s review', icon: 'inbox', hue: 'ask' },
        ...{ text: text(event, 'reason'), isPassive: true },
      }
    const options = Array.isArray(event.payload.options) ? event.payload.options.map(String) : []
    return { words: 'asked', icon: 'help', hue: 'ask', text: question, options }
  },
  task_answered: (event) => ({
    ...{ words: 'answered', icon: 'check' },
    ...{ quoted: text(event, 'question'), text: text(event, 'answer') },
  }),
  task_assigned: (event) => ({
    words: `${agentOf(event)} took the task: attempt ${attemptOf(event)}`,
    ...{ icon: 'agents', isPassive: true, opens: event.generation ?? undefined },
  }),
  task_released: act('released the task', 'arrow-left'),
  task_requeued: happened(() => 'The task went back to the queue', 'arrow-left', undefined, 'because'),
  task_continues_later: happened(
    (event) => `${agentOf(event)} continues when other tasks are done`,
    'arrow-right',
  ),
  task_completed: happened((event) => `${agentOf(event)} completed the task`, 'check', 'done'),
  task_output_submitted: happened(
    (event) => `${agentOf(event)} handed in a result, which is to be verified`,
    'check',
    'held',
  ),
  task_completed_by_person: act('completed the task by hand', 'check', 'done'),
  task_verification_passed: verdict('accepted the result', 'done'),
  task_verification_failed: verdict('rejected the result', 'bad'),
  task_verification_requested: act('asked for another verdict', 'retry'),
  task_human_approved: act('approved the result', 'check', 'done'),
  task_human_rejected: act('rejected the result', 'close', 'bad'),
  task_result_rejected: happened(
    () => 'A result came too late and was not accepted. It is kept under Results',
    'warning',
  ),
  task_result_promoted: act('made another result the accepted one', 'check', 'done'),
  task_retrying: happened((event) => `Attempt ${attemptOf(event)} failed`, 'warning', 'bad'),
  task_failed: happened(() => 'The task failed', 'warning', 'bad', 'comment', 'verdict'),
  task_lease_expired: lost('its lease expired'),
  task_worker_lost: lost('its worker stopped responding'),
  task_agent_lost: lost('it stopped responding'),
  task_stalled: lost('it stopped responding'),
  task_hung: lost('it made no progress'),
  task_hang_suspected: happened((event) => `${agentOf(event)} is late and may be stuck`, 'warning', 'ask'),
  task_budget_exceeded: happened(() => 'A budget is spent', 'budgets', 'ask', 'error'),
  task_budget_too_small: happened(
    () => 'A budget has less left than the estimate',
    'budgets',
    'ask',
    'error',
  ),
  task_paused: act('paused the task', 'pause'),
  task_unpaused: act('resumed the task', 'play'),
  task_unpaused_to_wait: act('resumed the task; it waits as before', 'play'),
  task_retried: act('retried the task', 'retry'),
  task_retried_to_wait: act('retried the task; it starts when its parts are done', 'retry'),
  task_reset: act('put the task back in the queue', 'arrow-left'),
  task_reset_to_wait: act('put the task back; it waits for its parts', 'arrow-left'),
  task_reopened: happened(() => 'The task was reopened and waits again', 'arrow-left', undefined, 'because'),
  task_cancelled: act('cancelled the task', 'cancel', 'bad'),
  task_skipped: (event) =>
    event.by.kind === 'system'
      ? happened(() => 'The task was skipped', 'arrow-right', undefined, 'because')(event)
      : act('skipped the task', 'arrow-right')(event),
  task_expired: happened(() => 'Nobody took the task in time', 'warning', 'bad'),
  task_queued: (event) => ({
    words:
      event.payload.because === 'due'
        ? 'The wait is over: the task is queued'
        : 'It no longer waits for anything: the task is queued',
    ...{ icon: 'play', isPassive: true },
  }),
  task_held_back: (event) => {
    const count = Array.isArray(event.payload.dependsOn) ? event.payload.dependsOn.length : 1
    return {
      words: `made it wait for ${count === 1 ? 'another task' : `${count} more tasks`}`,
      icon: 'pause',
    }
  },
  task_updated: (event) => ({ words: changeWords(event.payload), icon: 'edit' }),
  task_divided: happened(() => 'The task was divided into parts', 'list'),
  task_merged: happened(() => 'The results of its parts were put together', 'check', 'done'),
  model_fallback: happened((event) => `Another model is used: ${text(event, 'to')}`, 'retry'),
  task_archived: act('archived the task', 'archive'),
  task_work_removed: happened(() => 'Folders and branches of its work were removed', 'archive'),
}

export const ACTIVITY_TYPES = Object.keys(WORDS) as EventType[]

/** Oldest first. */
export function entriesOf(events: readonly LiveEvent[]): Entry[] {
  const entries = events.flatMap((event): Entry[] => {
    const words = WORDS[event.type as EventType]
    if (!words) return []
    const { isPassive = false, ...said } = words(event)
    return [{ key: `e${event.seq}`, at: event.at, who: isPassive ? null : event.by, ...said }]
  })
  const comments = new Map(entries.map((one) => [one.commentId, one.text]))
  for (const [i, one] of entries.entries())
    if (one.replyTo) entries[i] = { ...one, quoted: comments.get(one.replyTo) }
  // A reason that was given with an act is in the thread, too: it is shown with the act.
  const given = new Set(entries.flatMap((one) => (one.commentId ? [] : [`${one.at} ${one.text}`])))
  return entries.filter((one) => !one.commentId || !given.has(`${one.at} ${one.text}`))
}

/** An actor, as people call it. */
export const actorName = ({ kind, name, id }: LiveEvent['by']): string =>
  kind === 'system' || kind === 'coordinator' ? 'Baton' : (name ?? id ?? 'Somebody')
