import type { NewComment } from '../../comment/record.ts'
import { closedMsBy } from '../../mission/rules/gate.ts'
import type { TaskReply } from '../../replies.ts'
import type { RuleContext, TaskCommand } from '../command.ts'
import { type Effects, noEffects, TaskDraft, type TaskRecord } from '../record.ts'
import { clearAlert, raiseAlert } from './alert.ts'
import { countChild } from './children.ts'
import { claim } from './claim.ts'
import { comment, say } from './comment.ts'
import { complete } from './complete.ts'
import { changeDependencies, failCycle } from './dependencies.ts'
import { holderWrite } from './holder.ts'
import { operate } from './operator.ts'
import { divide, merge } from './parts.ts'
import { promote } from './promote.ts'
import { answer } from './question.ts'
import { removeWork } from './remove-work.ts'
import { replan } from './replan.ts'
import { submit } from './result.ts'
import { lose, revoke, stall } from './stall.ts'
import { elapse } from './time.ts'
import { countUpstream } from './upstream.ts'
import { waitAgain } from './wait-again.ts'

export interface Decision<K extends TaskCommand['kind'] = TaskCommand['kind']> {
  reply: TaskReply<K>
  /** The record after the decision; the very same object when nothing changed. */
  record: TaskRecord
  effects: Effects
}

/**
 * Every rule, once: what a command does to a task at a moment. Pure: no clock, no randomness, no I/O. Stores differ only
 * in how they lock, read their clock and write the decision.
 */
export function decide<C extends TaskCommand>(
  record: TaskRecord,
  command: C,
  context: RuleContext,
  effects: Effects = noEffects(),
  said?: NewComment,
): Decision<C['kind']> {
  const { now, limits } = context
  const draft = new TaskDraft(record, now, effects, limits.queueOrder, closedMsOf(record, context))
  // Each rule replies as replies.ts declares for its command; the compiler cannot infer that from a switch.
  const reply = ruleFor(draft, command, context) as TaskReply<C['kind']>
  // An act that is repeated and changes nothing is not commented on twice.
  if (said && reply.ok && draft.changed) say(draft, said, context)
  return { reply, record: draft.changed || draft.counted ? draft.record : record, effects: draft.effects }
}

/** Only tasks with a deadline need it. */
function closedMsOf({ timers, missionId }: TaskRecord, { missionOf, now }: RuleContext): number {
  if (missionId === null || timers?.deadlineMs === undefined) return 0
  const gate = missionOf?.(missionId)
  return gate ? closedMsBy(gate, now) : 0
}

function ruleFor(draft: TaskDraft, command: TaskCommand, context: RuleContext): TaskReply {
  switch (command.kind) {
    case 'claim':
      return claim(draft, command, context)
    case 'submit':
      return submit(draft, command, context)
    case 'renew':
    case 'start':
    case 'progress':
    case 'continue':
    case 'release':
    case 'fail':
    case 'log':
    case 'ask':
    case 'useModel':
      return holderWrite(draft, command, context)
    case 'elapse':
      return elapse(draft, command, context)
    case 'countUpstream':
      return countUpstream(draft, command, context)
    case 'replan':
      return replan(draft, command, context)
    case 'waitAgain':
      return waitAgain(draft, command, context)
    case 'raiseAlert':
      return raiseAlert(draft, command, context)
    case 'clearAlert':
      return clearAlert(draft, context)
    case 'countChild':
      return countChild(draft)
    case 'divide':
      return divide(draft, command, context)
    case 'merge':
      return merge(draft, command, context)
    case 'revoke':
      return revoke(draft, command, context)
    case 'lose':
      return lose(draft, command, context)
    case 'stall':
      return stall(draft, command, context)
    case 'changeDependencies':
      return changeDependencies(draft, command, context)
    case 'failCycle':
      return failCycle(draft, command, context)
    case 'comment':
      return comment(draft, command, context)
    case 'complete':
      return complete(draft, command, context)
    case 'answer':
      return answer(draft, command, context)
    case 'removeWork':
      return removeWork(draft, command, context)
    case 'promote':
      return promote(draft, command, context)
    default:
      return operate(draft, command, context)
  }
}
