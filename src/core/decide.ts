import type { Circumstances, Decision, Reply, TaskCommand } from './commands.ts'
import { type Effects, noEffects, TaskDraft, type TaskRecord } from './records.ts'
import { claim } from './rules/claim.ts'
import { entangle, holdBack } from './rules/entangle.ts'
import { holderWrite } from './rules/holder.ts'
import { operate } from './rules/operator.ts'
import { divide, merge } from './rules/parts.ts'
import { promote } from './rules/promote.ts'
import { submit } from './rules/result.ts'
import { lose, stall, takeBack } from './rules/stall.ts'
import { elapse, unblock } from './rules/time.ts'

/**
 * Every rule, once: what a command does to a task at a moment. Pure: no clock, no chance, no I/O. Stores differ only
 * in how they lock, read their clock and write what is decided here.
 */
export function decide(
  record: TaskRecord,
  command: TaskCommand,
  around: Circumstances,
  effects: Effects = noEffects(),
): Decision {
  const draft = new TaskDraft(record, around.now, effects, around.limits.queueOrder)
  const reply = ruleFor(draft, command, around)
  return { reply, record: draft.changed ? draft.record : record, effects: draft.effects }
}

function ruleFor(draft: TaskDraft, command: TaskCommand, around: Circumstances): Reply {
  switch (command.kind) {
    case 'claim':
      return claim(draft, command, around)
    case 'submit':
      return submit(draft, command, around)
    case 'renew':
    case 'start':
    case 'progress':
    case 'continue':
    case 'release':
    case 'fail':
    case 'log':
      return holderWrite(draft, command, around)
    case 'elapse':
      return elapse(draft, command, around)
    case 'unblock':
      return unblock(draft, command, around)
    case 'divide':
      return divide(draft, command, around)
    case 'merge':
      return merge(draft, command, around)
    case 'takeBack':
      return takeBack(draft, command, around)
    case 'lose':
      return lose(draft, command, around)
    case 'stall':
      return stall(draft, command, around)
    case 'holdBack':
      return holdBack(draft, command, around)
    case 'entangle':
      return entangle(draft, command, around)
    case 'promote':
      return promote(draft, command, around)
    default:
      return operate(draft, command, around)
  }
}
