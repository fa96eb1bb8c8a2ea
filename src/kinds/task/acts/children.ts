import { hash } from 'node:crypto'
import type { z } from 'zod'
import { actsOf } from '../../../door/door.ts'
import type { RunKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { Refused } from '../../../pure/errors.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import * as api from '../../mission/api/children.ts'
import type { ChildFields } from '../../mission/shapes/children.ts'
import type { SpentByRun } from '../../run/rules/spent.ts'
import type { Fence, NewTask } from '../command.ts'
import { rootOf } from '../rules/children.ts'
import { NOTHING_SAID } from '../rules/plan-fields.ts'
import type { ContinueAnswer } from '../shapes/claims.ts'
import { TaskCreate, type TaskView } from '../shapes/tasks.ts'
import { findCycle } from './dependencies.ts'
import { NO_MISSIONS, retriesIn } from './joining.ts'
import { forSingleTask } from './single-task.ts'
import { briefView, command, createTasks, readTask, requireRecord } from './tasks.ts'

/** What holders add to their missions, or below their own tasks, and what they wait for there. */

type Child = z.output<typeof ChildFields>

/** The holder of a task adds another one: to their mission, or below its own task. */
export async function addChild(
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  { tempId, ...said }: Child,
  fence: Fence,
): Promise<AnswerOf<typeof TaskView>> {
  const { record, details } = await readTask(kernel, caller, uuid)
  const { id, missionId, priority } = record
  const mission = missionId === null ? null : await kernel.store.missions.find(caller.workspaceId, missionId)
  const { merge, maxRetries } = TaskCreate.pick({ merge: true, maxRetries: true }).parse({})
  const retries = said.maxRetries ?? (mission && retriesIn(mission.config)) ?? maxRetries
  const where = mission ? { mission: mission.uuid } : { project: details.project ?? undefined }
  const inPlace = { ...said, ...where, merge, maxRetries: retries, priority: said.priority ?? priority }
  const unique = tempId === undefined ? null : uniqueOf(uuid, tempId, said)
  const root = mission ? null : rootOf(record)
  const asChild = (task: NewTask): NewTask => {
    const plan = { ...(task.details.plan ?? NOTHING_SAID), tempId: tempId ?? null, childOf: uuid }
    return { ...task, unique, addedBy: { id, uuid, fence, root }, details: { ...task.details, plan } }
  }
  const missions = mission ? new Map([[mission.uuid, mission]]) : NO_MISSIONS
  const [task] = await createTasks(kernel, caller, [inPlace], missions, asChild).catch(asTempId)
  return task!
}

/** No caller has this name: keys of other requests never collide with it. Any holder of the task repeats the same. */
const uniqueOf = (uuid: string, tempId: string, said: object): NewTask['unique'] => ({
  key: `child-of:${uuid} ${tempId}`,
  bodyHash: hash('sha256', JSON.stringify(said)),
})

/** What a task is known by is its tempId here. */
function asTempId(error: unknown): never {
  if (!(error instanceof Refused) || error.code !== 'IDEMPOTENCY_KEY_REUSED') throw error
  throw Refused.field('ALREADY_EXISTS', 'tempId', 'names another task that this one added')
}

/** The holder continues when these tasks of its mission have ended. */
export async function continueAfter(
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  fence: Fence,
  after: readonly string[],
  spent?: SpentByRun,
): Promise<AnswerOf<typeof ContinueAnswer>> {
  const tasks = after.map((named, place) => {
    const refused = (message: string) => Refused.field('VALIDATION_FAILED', `after[${place}]`, message)
    const id = idCarriedBy(named)
    if (id === null) throw refused('names no task')
    if (after.indexOf(named) !== place) throw refused('is named twice')
    return { id, uuid: named }
  })
  const record = await requireRecord(kernel, caller, uuid)
  const ids = tasks.map(({ id }) => id)
  const cycle = ids.includes(record.id) ? null : await findCycle(kernel, caller.workspaceId, record, ids)
  const reply = await command(kernel, caller, uuid, {
    ...{ kind: 'continue' as const, fence, spent },
    after: { tasks, cycle },
  })
  const { reason, resumeAfterMs, record: now } = reply
  return { reason, resumeAfterMs, task: briefView(now) }
}

export const childActs = actsOf(api)({
  addChild: ({ kernel }, { params, body: { session, generation, ...said }, caller }) =>
    addChild(kernel, caller, params.id, said, { session, generation }).catch(forSingleTask),
})
