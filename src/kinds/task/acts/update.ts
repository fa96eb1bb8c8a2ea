import type { z } from 'zod'
import { refuseOwnAgent } from '../../../door/named-agents.ts'
import type { RunKernel } from '../../../door/server-kernel.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { Budget } from '../../../pure/budget.ts'
import { Refused } from '../../../pure/errors.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { BudgetChange } from '../../run/rules/budget.ts'
import type { TaskRecord } from '../record.ts'
import type { DetailsBefore, TaskPatch } from '../rules/patch.ts'
import { NOTHING_SAID } from '../rules/plan-fields.ts'
import type { TaskPatchBody, TaskView } from '../shapes/tasks.ts'
import { asBefore, changeDependencies } from './dependencies.ts'
import { operate, readTask } from './tasks.ts'

/** What people change about a task. */

type Patch = z.output<typeof TaskPatchBody>

export async function updateTask(
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  { budget, ...body }: Patch,
  ifVersion: number | null,
): Promise<AnswerOf<typeof TaskView>> {
  await refuseOwnAgent(kernel, caller, [['agent', body.agent]])
  if (budget === undefined) return update(kernel, caller, uuid, body, ifVersion)
  return withBudget(kernel, caller, uuid, budget, (change) =>
    update(kernel, caller, uuid, body, ifVersion, change),
  )
}

async function update(
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  { agent, dependsOn = [], removeDependsOn = [], ...rest }: Omit<Patch, 'budget'>,
  ifVersion: number | null,
  budget?: BudgetChange,
): Promise<AnswerOf<typeof TaskView>> {
  const patch = {
    ...rest,
    ...(agent !== undefined && { onlyAgent: agent }),
    ...(budget !== undefined && { budget }),
  }
  if (dependsOn.length + removeDependsOn.length > 0)
    return changeDependencies(kernel, caller, uuid, { dependsOn, removeDependsOn }, { ifVersion, patch })
  const before = await detailsBefore(kernel, caller, uuid, patch)
  return operate(kernel, caller, uuid, { kind: 'update', ifVersion, patch, before })
}

/** Only what is written of it, and not decided by, has to be read before. */
async function detailsBefore(
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  { title, tags, taskType }: TaskPatch,
): Promise<DetailsBefore | undefined> {
  if (title === undefined && tags === undefined && taskType === undefined) return undefined
  return asBefore(await readTask(kernel, caller, uuid))
}

/** A task that waits because its budget is spent gets another one, unless it is something else by now than the caller saw. */
export const raiseBudget = (
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  budget: Budget,
  isAsSeen: (record: TaskRecord) => boolean,
): Promise<AnswerOf<typeof TaskView>> =>
  withBudget(
    kernel,
    caller,
    uuid,
    budget,
    (change) => update(kernel, caller, uuid, {}, null, change),
    isAsSeen,
  )

/** Retries when another caller changes the task between the read and the command. */
const TRIES = 10

async function withBudget<T>(
  kernel: RunKernel,
  caller: Caller,
  uuid: string,
  budget: Budget | null,
  act: (change: BudgetChange) => Promise<T>,
  isAsSeen: (record: TaskRecord) => boolean = () => true,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    const { record, details } = await readTask(kernel, caller, uuid)
    if (!isAsSeen(record)) throw new Refused('CHANGED_SINCE', `The task is ${record.state} now.`)
    const spent = await kernel.store.runs.usageOfTask(caller.workspaceId, record.id)
    const plan = { ...(details.plan ?? NOTHING_SAID), budget }
    try {
      return await act({ budget, plan, spent, version: record.version })
    } catch (error) {
      if (!(error instanceof Refused) || !error.refusal.shouldRetry || tries === TRIES) throw error
    }
  }
}
