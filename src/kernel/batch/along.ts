import type { Along, Kind, KindShape } from '../../kinds/kind.ts'
import type { MissionTypes } from '../../kinds/mission/kind.ts'
import type { RuleContext, TaskCommand } from '../../kinds/task/command.ts'
import { noEffects, type TaskRecord } from '../../kinds/task/record.ts'
import { decide } from '../../kinds/task/rules/decide.ts'
import { type Refusal, refuse } from '../../pure/errors.ts'
import type { KindBatch } from './kind-batch.ts'

interface InBatch {
  contextOf: (command: TaskCommand) => RuleContext
  record: (id: number) => TaskRecord | undefined
  missions: KindBatch<MissionTypes>
}

type ContextOf<T extends KindShape> = Parameters<Kind<T>['decide']>[3]

/**
 * Why one of the commands that go along with another would be refused. Each is decided once for that alone, and nothing of it is kept:
 * they are of different records, so none changes what another decides.
 */
export function whyNotAlong(
  { missions, tasks }: Along,
  context: Omit<ContextOf<KindShape>, 'all' | 'seen'>,
  batch: InBatch,
): Refusal | null {
  for (const { taskId, uuid, command } of tasks) {
    const record = batch.record(taskId)
    if (!record) return refuse('NOT_FOUND', `There is no task ${uuid} in this workspace.`)
    const { reply } = decide(record, command, batch.contextOf(command), noEffects())
    if (!reply.ok) return reply
  }
  const records = batch.missions
  for (const { uuid, command } of missions) {
    const own = { ...context, holding: [], seen: records.seen(uuid), all: records.all }
    const { refusal } = records.kind.decide(records.current(uuid), { key: uuid, uuid }, command, own)
    if (refusal) return refusal
  }
  return null
}
