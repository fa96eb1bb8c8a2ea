import { hash } from 'node:crypto'
import type { RunKernel } from '../../../door/server-kernel.ts'
import { throwIfNotLeader } from '../../../kernel/caller.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import type { StoredResult, StoredTask } from '../../../kernel/store/store.ts'
import { idCarriedBy } from '../../../pure/ids.ts'
import { isTerminal } from '../../../pure/states.ts'
import { commandAgent } from '../../agent/acts/agents.ts'
import { verificationText } from '../../run/prompts/verification.ts'
import type { NewTask, TaskCommand } from '../../task/command.ts'
import type { TaskRecord } from '../../task/record.ts'
import { OWN_AGENT } from '../../task/rules/acting.ts'
import { newTask } from '../../task/rules/new-task.ts'
import {
  autoVerdict,
  DEFAULT_THRESHOLD,
  excludedJudges,
  judgementOf,
  judgesAmong,
  type Verdict,
  whyNobodyJudges,
} from '../rules.ts'

/** Gets the verdict on a result: by a check of Baton's own, or by a task that judges it. */

/** The type of the adapter of Baton's own agent (adapters/command.ts). */
const COMMAND = 'command'
/** How many commands run at once. */
const CHECKS_AT_ONCE = 4

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
  // Refused: a person, or another node, was faster.
  throwIfNotLeader(await kernel.run(caller, { on: 'task', taskId: id, uuid, command }))
}

/** Nobody can judge it: a person has to. */
export const withoutVerdict = (generation: number, why: string): TaskCommand & { kind: 'verdict' } => ({
  ...{ kind: 'verdict', verdict: 'unsure', generation, note: `no_verdict: ${why}` },
  given: { verifier: 'baton', score: null, verification: null },
})

/** Why a verification has no verdict, with the error of its last attempt. */
export async function whyEnded(
  kernel: RunKernel,
  workspaceId: number,
  { id, state }: TaskRecord,
): Promise<string> {
  const error = (await kernel.store.task(workspaceId, id))?.details.error ?? null
  return `the verification is ${state}${error === null ? '' : `: ${error}`}`
}

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
  const asked = askedAgain(task.record)
  const isOfThisResult =
    last?.serves?.generation === record.generation && (last.serves.round ?? 0) === (asked?.round ?? 0)
  if (isOfThisResult && !isTerminal(last.state)) return waitFor(kernel, caller, task, last)
  const made = isOfThisResult
    ? { ok: false as const, why: await whyEnded(kernel, caller.workspaceId, last) }
    : rule.kind === 'agent'
      ? await askAgent(kernel, caller, task, asked ? asked.agent : (rule.agent ?? null))
      : await runCommand(kernel, caller, task)
  if (!made.ok) await giveVerdict(kernel, caller, task.record, withoutVerdict(record.generation, made.why))
}

/** What a person asked for after the first verification of this result. */
const askedAgain = ({ attention, generation }: TaskRecord) =>
  attention?.judging?.generation === generation ? attention.judging : null

/** Its own end gives the verdict. When nobody has taken it in time, and nobody who may is busy, a person is asked instead. */
async function waitFor(
  kernel: RunKernel,
  caller: Caller,
  { record }: Waiting,
  verification: TaskRecord,
): Promise<void> {
  if (!record.timers?.isVerdictLate || verification.state !== 'queued') return
  const why = await whyNobody(kernel, caller.workspaceId, verification)
  if (why !== null) await giveVerdict(kernel, caller, record, withoutVerdict(record.generation, why))
}

async function whyNobody(
  kernel: RunKernel,
  workspaceId: number,
  { onlyAgent, serves, updatedAt }: TaskRecord,
): Promise<string | null> {
  const agents = (await kernel.store.agents.list(workspaceId, {}, 10_000)).map(({ record }) => record)
  const mayJudge = judgesAmong(agents, onlyAgent, serves?.notAgents ?? [])
  const slugs = mayJudge.map(({ slug }) => slug)
  const busy = new Set(await kernel.store.verifications.busySince(workspaceId, slugs, updatedAt))
  const judges = mayJudge.map((agent) => ({ ...agent, isBusy: busy.has(agent.slug) }))
  return whyNobodyJudges(judges, onlyAgent)
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

/** Where it was made. The command is not part of the verification: executor/check.ts reads it from the task that is judged. */
async function runCommand(kernel: RunKernel, caller: Caller, task: Waiting): Promise<Made> {
  const { id, generation } = task.record
  const made = await kernel.store.runs.madeIn(caller.workspaceId, id, generation)
  if (!made)
    return { ok: false, why: 'no run of Baton made this result, so there is no folder for the command' }
  const profile = { name: 'Baton', adapterType: COMMAND, adapterConfig: {}, coordinatorEnabled: true }
  const { record: own } = await commandAgent(kernel, caller, OWN_AGENT, {
    ...{ kind: 'register', ifVersion: null },
    profile: { ...profile, maxConcurrentTasks: CHECKS_AT_ONCE },
  })
  // An earlier version of Baton let one refused command stop it.
  if (own.state === 'error') await commandAgent(kernel, caller, OWN_AGENT, { kind: 'clearFault' })
  const verification = verificationOf(task, OWN_AGENT, [])
  const input = { ...(verification.details.input as object), node: made.node }
  return create(kernel, caller, { ...verification, details: { ...verification.details, input } })
}

async function makersOfParts(kernel: RunKernel, workspaceId: number, { id, merge }: TaskRecord) {
  if (merge === 'none') return []
  const upstream = await kernel.store.dependencies(workspaceId, id)
  const ids = upstream.map(({ uuid }) => idCarriedBy(uuid)).filter((one) => one !== null)
  const records = await kernel.store.recordsById(workspaceId, ids)
  return records.flatMap(({ parentId, agent }) => (parentId === id && agent !== null ? [agent] : []))
}

/** Where a judge without a folder reads the work. */
const workIn = (uuid: string, { commit, generation }: StoredResult) =>
  commit === null
    ? {}
    : { commit, changes: `/api/v1/tasks/${uuid}/changes?generation=${generation}&diff=whole` }

function verificationOf(
  { record, details, result }: Waiting,
  named: string | null,
  notAgents: readonly string[],
): NewTask {
  const { id: taskId, uuid, generation, epoch, missionId, projectId, priority } = record
  const { successCriteria = null, outputSchema = null } = details.plan ?? {}
  const { verifyMs } = record.timers ?? {}
  const round = askedAgain(record)?.round
  const again = round === undefined ? '' : `/${round}`
  const { title, description, input } = details
  const judged = { uuid, title, description, input, successCriteria, outputSchema }
  const work = { summary: result.summary, result: result.data, workProductRef: result.ref }
  return newTask({
    // The mission can end without it.
    optional: true,
    ...{ projectId, priority, missionId, onlyAgent: named },
    maxRetries: RETRIES,
    verification: 'baton',
    purpose: 'verification',
    serves: { taskId, uuid, generation, notAgents, ...(round !== undefined && { round }) },
    // From its start: waiting for a verifier that is busy does not use it up.
    timers: verifyMs === undefined ? null : { attemptMs: verifyMs },
    unique: {
      key: `verification ${uuid}/${epoch}/${generation}${again}`,
      bodyHash: hash('sha256', result.hash),
    },
    details: {
      title: `Verify: ${title}`,
      taskType: 'verification',
      description: verificationText({ ...judged, ...work }),
      input: { taskId: uuid, generation, workProductRef: result.ref, ...workIn(uuid, result) },
      project: details.project,
      createdBy: 'system',
      mission: details.mission ?? null,
    },
  })
}
