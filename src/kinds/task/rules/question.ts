import { type Refusal, refuse, refuseField } from '../../../pure/errors.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import type { TaskDraft, TaskRecord } from '../record.ts'
import { preferLastAgent } from './agent-choice.ts'
import { isAllowed } from './allowed-acts.ts'
import { goOn } from './continuation.ts'

type Command<K extends TaskCommand['kind']> = Extract<TaskCommand, { kind: K }>

/** The holder asks a person. Its fence was checked; the claim ends, and no attempt is spent. */
export function ask(draft: TaskDraft, command: Command<'ask'>, context: RuleContext): TaskReply {
  const { record } = draft
  if (record.purpose === 'verification')
    return refuse('WRONG_STATE', 'A verification asks nobody: its verdict may be "unsure".')
  const { question, options } = command
  const asks = { question, options: [...options], askedBy: record.agent!, askedAt: context.now }
  draft.endClaim('NEEDS_HUMAN')
  record.attempt -= 1
  record.dueAt = null
  record.attention = { ...record.attention, asks }
  const unanswered = { answer: null, answeredBy: null, answeredAt: null }
  draft.effects.details.push({
    taskId: record.id,
    set: { question: { ...asks, generation: record.generation, ...unanswered } },
  })
  draft.move('task_human_review_requested', `agent:${record.agent}`, {
    reason: 'question',
    question,
    options: asks.options,
  })
  return { ok: true, reason: 'ASKED', record }
}

/** A person answers: the task is queued again, and continues with the answer. */
export function answer(draft: TaskDraft, command: Command<'answer'>, context: RuleContext): TaskReply {
  const { record } = draft
  const asks = record.attention?.asks
  if (!isAllowed('answer', record.state) || !asks)
    return refuse('WRONG_STATE', 'The task has no question that waits for an answer.', {
      taskState: record.state,
    })
  const stale = whyStale(record, command.generation)
  if (stale) return stale
  const { options, question } = asks
  if (options.length > 0 && !options.includes(command.answer))
    return refuseField('VALIDATION_FAILED', 'answer', `must be one of: ${options.join(', ')}`)
  draft.effects.details.push({
    taskId: record.id,
    set: {
      question: {
        ...asks,
        generation: record.generation,
        answer: command.answer,
        answeredBy: context.actor,
        answeredAt: context.now,
      },
    },
  })
  goOn(record)
  draft.move('task_answered', context.actor, { question, answer: command.answer })
  preferLastAgent(record, context.now)
  return { ok: true, reason: 'DONE', record }
}

/** The caller acts on another generation than the present one. */
export function whyStale({ generation }: TaskRecord, named: number | undefined): Refusal | null {
  if (named === undefined || named === generation) return null
  return refuse(
    'STALE_GENERATION',
    `The request is for generation ${named}; the task is at generation ${generation}.`,
    {
      currentGeneration: generation,
    },
  )
}
