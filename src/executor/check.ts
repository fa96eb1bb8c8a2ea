import { COMMAND } from '../adapters/command.ts'
import { hooksIn } from '../adapters/config.ts'
import type { StoredTask } from '../kernel/store/store.ts'
import type { AgentRecord } from '../kinds/agent/record.ts'
import { environmentOf } from '../kinds/routine/rules/variables.ts'
import { runFolderOf } from '../kinds/run/shapes/folder.ts'
import { OWN_AGENT } from '../kinds/task/rules/acting.ts'
import { CannotPrepare } from './cannot-prepare.ts'
import type { ExecutorContext } from './context.ts'
import { folderOfAgent } from './folders/places.ts'
import type { Held } from './holding.ts'

/**
 * A verification by command runs where the result was made: in a fresh worktree at the commit that was recorded, or, without
 * git, in the same folder. Everything that is run comes from the records of the judged task, and nothing from the task that
 * is held: only those who may name commands have written there.
 */

type Json = Record<string, unknown>

/** What is judged: the task, its command, and the generation of its result. */
interface Judged {
  task: StoredTask
  command: string
  generation: number
}

async function judgedBy(
  { kernel }: ExecutorContext,
  workspaceId: number,
  held: Held | null,
): Promise<Judged> {
  const own = held && (await kernel.store.task(workspaceId, held.taskId))
  if (!own) throw new CannotPrepare('claim_lost', 'There is no verification to run.')
  const { purpose, serves } = own.record
  if (purpose !== 'verification' || !serves)
    throw new CannotPrepare(
      'invalid_task',
      `${OWN_AGENT} runs nothing but verifications by command; this task is none.`,
    )
  const task = await kernel.store.task(workspaceId, serves.taskId)
  const rule = task?.details.plan?.verification
  if (!task || rule?.kind !== 'command' || rule.command === undefined)
    throw new CannotPrepare(
      'invalid_task',
      'The task that is judged names no command that verifies its result.',
    )
  return { task, command: rule.command, generation: serves.generation }
}

/** What its command finds in its environment beside what all programs do: the variables of the routine that started its mission. */
export async function environmentOfCheck(
  context: ExecutorContext,
  workspaceId: number,
  agent: AgentRecord,
  held: Held | null,
): Promise<Record<string, string>> {
  if (agent.slug !== OWN_AGENT) return {}
  const { missionId } = (await judgedBy(context, workspaceId, held)).task.record
  const { missions } = context.kernel.store
  const mission = missionId === null ? null : await missions.find(workspaceId, missionId)
  return environmentOf(mission?.config.routine?.variables ?? {})
}

/** An agent with the settings of a run, and the agent below whose name its folder is. */
interface Equipped {
  agent: AgentRecord
  folderOf: string
}

/** The agent with the settings of this run: those of Baton's own come from the task that is judged. */
export async function withCheck(
  context: ExecutorContext,
  workspaceId: number,
  agent: AgentRecord,
  held: Held | null,
): Promise<Equipped> {
  if (agent.slug !== OWN_AGENT) return { agent: mustNotRunCommands(agent), folderOf: agent.slug }
  const { kernel } = context
  const { task, command, generation } = await judgedBy(context, workspaceId, held)
  const made = await kernel.store.runs.madeIn(workspaceId, task.record.id, generation)
  const folder = runFolderOf(made?.folder)
  if (!made || !folder)
    throw new CannotPrepare('invalid_task', 'The folder in which the result was made is not known.')
  const ofMaker = { slugs: [made.agent], withEnded: true }
  const [maker] = await kernel.store.agents.list(workspaceId, ofMaker, 1)
  // A fresh folder lacks what the hook of its maker installs.
  const { before } = folder.worktree ? hooksIn((maker?.record.adapterConfig ?? {}) as Json) : {}
  // A maker without a cwd works in a folder of its own in the data folder, where no cwd may be: its command works there by the name
  // of the maker.
  const isOwnFolder = folder.path === (await folderOfAgent(context.dataFolder, workspaceId, made.agent))
  const cwd = isOwnFolder ? {} : { cwd: folder.path }
  const where = folder.worktree ? { ...(before && { hooks: { before } }) } : cwd
  const adapterConfig = { command, ...where }
  return { agent: { ...agent, adapterType: COMMAND, adapterConfig }, folderOf: made.agent }
}

/** Another agent may have got this adapter before it was reserved. */
function mustNotRunCommands(agent: AgentRecord): AgentRecord {
  if (agent.adapterType === COMMAND)
    throw new CannotPrepare('invalid_configuration', `The adapter "${COMMAND}" is for ${OWN_AGENT} alone.`)
  return agent
}
