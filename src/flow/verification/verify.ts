import { hash } from 'node:crypto'
import type { NewTask, TaskCommand } from '../../core/commands.ts'
import { idCarriedBy } from '../../core/ids.ts'
import { verificationText } from '../../core/prompts/verification.ts'
import type { TaskRecord } from '../../core/records.ts'
import { environmentOf } from '../../core/routines/variables.ts'
import { isTerminal } from '../../core/states.ts'
import { autoVerdict } from '../../core/verification/auto.ts'
import { excludedJudges } from '../../core/verification/judges.ts'
import { DEFAULT_THRESHOLD, judgementOf, type Verdict } from '../../core/verification/verdict.ts'
import type { Caller } from '../../kernel/kernel.ts'
import type { RunKernel } from '../../kernel/server-kernel.ts'
import type { StoredResult, StoredTask } from '../../store/store.ts'
import { commandAgent } from '../agents.ts'
import { ownTask } from '../own-task.ts'
import { throwIfNotLeader, unblockAfter } from '../unblock.ts'

/** Gets the verdict on a result: by a check of Baton's own, or by a task that judges it. */

/** The type of the adapter of Baton's own agent (adapters/command.ts). */
const COMMAND = 'command'

/** A verification is tried again this often, when its verifier dies or answers nonsense. */
const RETRIES = 2

/** The result that waits for its verdict; null when it no longer does. */
export async function waitingResult(
  kernel: RunKernel,
  workspaceId: number,
  { id, generation }: Pick<TaskRecord, 'id' | 'generation'>,
): Promise<(StoredTask & { result: StoredResult }) | null> {
  const task = await kernel.store.task(workspaceId, id)
  if (task?.record.state !== 'verifying' || task.record.generation !== generation) return null
  const results = await kernel.store.results(workspaceId, id)
  const result = results.findLast((one) => one.accepted === null && one.hash === task.record.resultHash)
  return result ? { ...task, result } : null
}

/** Whether somebody can be asked when a verdict is unsure. */
async function mayAskPeople(kernel: RunKernel, workspaceId: number, { missionId }: TaskRecord) {
  const mission = missionId === null ? null : await kernel.store.missions.find(workspaceId, missionId)
  return mission?.config.autonomy !== 'full_auto'
}

/** The command that gives a task the verdict on its newest result. */
export async function verdictCommand(
  kernel: RunKernel,
  workspaceId: number,
  { record, details }: StoredTask,
  verdict: Verdict,
  by: { verifier: string; verification: string | null },
): Promise<TaskCommand & { kind: 'verdict' }> {
  const threshold = details.plan?.verification?.threshold ?? DEFAULT_THRESHOLD
  const judgement = judgementOf(verdict, threshold, await mayAskPeople(kernel, workspaceId, record))
  return {
    kind: 'verdict',
    verdict: judgement,
    note: verdict.feedback === '' ? null : verdict.feedback,
    generation: record.generation,
    given: { ...by, score: verdict.score },
  }
}

export async function giveVerdict(
  kernel: RunKernel,
  caller: Caller,
  { id, uuid }: Pick<TaskRecord, 'id' | 'uuid'>,
  command: TaskCommand & { kind: 'verdict' },
): Promise<void> {
  const reply = throwIfNotLeader(await kernel.run(caller, { on: 'task', taskId: id, uuid, command }))
  // Refused: a person, or another node, was faster.
  if (reply.ok) await unblockAfter(kernel, caller.workspaceId, [reply.record], 'verdict')
}

/** Nobody can judge it: a person has to. */
export const withoutVerdict = (generation: number, why: string): TaskCommand & { kind: 'verdict' } => ({
  ...{ kind: 'verdict', verdict: 'unsure', generation, note: `no_verdict: ${why}` },
  given: { verifier: 'baton', score: null, verification: null },
})

/** A result was submitted for a task with a verification. Called again, it does no more than is missing. */
export async function verify(kernel: RunKernel, caller: Caller, record: TaskRecord): Promise<void> {
  const task = await waitingResult(kernel, caller.workspaceId, record)
  if (!task) return
  const rule = task.details.plan?.verification
  if (rule?.kind !== 'agent' && rule?.kind !== 'command') {
    const verdict = autoVerdict(task.result.data, task.details.plan?.outputSchema ?? null)
    const by = { verifier: 'baton', verification: null }
    const command = await verdictCommand(kernel, caller.workspaceId, task, verdict, by)
    return giveVerdict(kernel, caller, task.record, command)
  }
  const [last] = await kernel.store.verifications.of(caller.workspaceId, record.id)
  const isOfThisResult = last?.serves?.generation === record.generation
  // Its own end gives the verdict, or asks a person.
  if (isOfThisResult && !isTerminal(last.state)) return
  const made = isOfThisResult
    ? { ok: false as const, why: `the verification is ${last.state}` }
    : rule.kind === 'agent'
      ? await askAgent(kernel, caller, task, rule.agent ?? null)
      : await runCommand(kernel, caller, task, rule.command!)
  if (!made.ok) await giveVerdict(kernel, caller, task.record, withoutVerdict(record.generation, made.why))
}

type Made = { ok: true } | { ok: false; why: string }

type Waiting = StoredTask & { result: StoredResult }

async function askAgent(
  kernel: RunKernel,
  caller: Caller,
  task: Waiting,
  named: string | null,
): Promise<Made> {
  const { workspaceId } = caller
  const { record } = task
  const agents = await kernel.store.agents.list(workspaceId, {}, 10_000)
  const makers = { producer: record.agent!, others: await makersOfParts(kernel, workspaceId, record) }
  const notAgents = excludedJudges(
    agents.map((one) => one.record),
    named,
    makers,
  )
  if (notAgents === null)
    return {
      ok: false,
      why: named === null ? 'there is no other agent to judge it' : `${named} cannot judge it`,
    }
  return create(kernel, caller, verificationOf(task, named, notAgents))
}

async function create(kernel: RunKernel, caller: Caller, verification: NewTask): Promise<Made> {
  const reply = throwIfNotLeader(await kernel.run(caller, { on: 'new', tasks: [verification] }))
  // Refused: the result no longer waits for its verdict.
  return reply.ok || reply.code === 'CHANGED_SINCE' ? { ok: true } : { ok: false, why: reply.detail }
}

/** Baton's own agent: it runs the commands that verify results, where they were made. */
const CHECKER = 'baton'
const CHECKS_AT_ONCE = 4

async function runCommand(kernel: RunKernel, caller: Caller, task: Waiting, command: string): Promise<Made> {
  const { id: innerTaskId, generation } = task.record
  const made = await kernel.store.runs.madeIn(caller.workspaceId, innerTaskId, generation)
  if (!made)
    return { ok: false, why: 'no run of Baton made this result, so there is no folder for the command' }
  const profile = { name: 'Baton', adapterType: COMMAND, adapterConfig: {}, coordinatorEnabled: true }
  await commandAgent(kernel, caller, CHECKER, {
    ...{ kind: 'register', ifVersion: null },
    profile: { ...profile, maxConcurrentTasks: CHECKS_AT_ONCE },
  })
  const verification = verificationOf(task, CHECKER, [])
  const environment = await variablesFor(kernel, caller.workspaceId, task.record)
  const given = { command, environment, innerTaskId, node: made.node }
  const input = { ...(verification.details.input as object), ...given }
  return create(kernel, caller, { ...verification, details: { ...verification.details, input } })
}

/** The variables of the routine that started its mission: a command never contains them. */
async function variablesFor(kernel: RunKernel, workspaceId: number, { missionId }: TaskRecord) {
  const mission = missionId === null ? null : await kernel.store.missions.find(workspaceId, missionId)
  return environmentOf(mission?.config.routine?.variables ?? {})
}

async function makersOfParts(kernel: RunKernel, workspaceId: number, { id, merge }: TaskRecord) {
  if (merge === 'none') return []
  const upstream = await kernel.store.dependencies(workspaceId, id)
  const ids = upstream.map(({ uuid }) => idCarriedBy(uuid)).filter((one) => one !== null)
  const records = await kernel.store.recordsById(workspaceId, ids)
  return records.flatMap(({ parentId, agent }) => (parentId === id && agent !== null ? [agent] : []))
}

function verificationOf(
  { record, details, result }: Waiting,
  named: string | null,
  notAgents: readonly string[],
): NewTask {
  const { id: taskId, uuid, generation, epoch, missionId, projectId, priority } = record
  const { successCriteria = null, outputSchema = null } = details.plan ?? {}
  const { verifyMs } = record.watch ?? {}
  const { title, description, input } = details
  const judged = { uuid, title, description, input, successCriteria, outputSchema }
  const work = { summary: result.summary, result: result.data, workProductRef: result.ref }
  return ownTask({
    ...{ projectId, priority, missionId, onlyAgent: named },
    maxRetries: RETRIES,
    review: 'baton',
    purpose: 'verification',
    serves: { taskId, uuid, generation, notAgents },
    // From its start: waiting for a verifier that is busy does not use it up.
    watch: verifyMs === undefined ? null : { attemptMs: verifyMs },
    unique: { key: `verification ${uuid}/${epoch}/${generation}`, bodyHash: hash('sha256', result.hash) },
    details: {
      title: `Verify: ${title}`,
      taskType: 'verification',
      description: verificationText({ ...judged, ...work }),
      input: { taskId: uuid, generation, workProductRef: result.ref },
      project: details.project,
      createdBy: 'system',
      mission: details.mission ?? null,
    },
  })
}
