import { COMMAND } from '../adapters/command.ts'
import type { AgentRecord } from '../core/records.ts'
import type { ExecutorContext } from './context.ts'
import type { Held } from './holding.ts'
import { Unfit } from './unfit.ts'

/**
 * A verification by command runs where the result was made: in a fresh worktree at the commit that was recorded, or, without
 * git, in the same folder.
 */

/** What a verification by command is given, by flow/verification/verify.ts. */
interface CheckInput {
  command: string
  environment?: Record<string, string>
  innerTaskId: number
  generation: number
}

interface MadeIn {
  path: string
  worktree: { branch: string } | null
  work?: { commit: string | null } | null
}

const inputOf = async ({ kernel }: ExecutorContext, workspaceId: number, held: Held | null) =>
  (held && (await kernel.store.task(workspaceId, held.innerId)))?.details.input as CheckInput | undefined

/** What its command finds in its environment beside what all programs do. */
export const environmentOfCheck = async (
  context: ExecutorContext,
  workspaceId: number,
  { adapterType }: AgentRecord,
  held: Held | null,
): Promise<Record<string, string>> =>
  adapterType === COMMAND ? ((await inputOf(context, workspaceId, held))?.environment ?? {}) : {}

/** The agent with the settings of this run: those of Baton's own come from the task. */
export async function withCheck(
  context: ExecutorContext,
  workspaceId: number,
  agent: AgentRecord,
  held: Held | null,
): Promise<AgentRecord> {
  if (agent.adapterType !== COMMAND) return agent
  const { kernel } = context
  const input = await inputOf(context, workspaceId, held)
  if (!input)
    throw new Unfit('invalid_configuration', 'There is no command to run: only verifications have one.')
  const made = await kernel.store.runs.madeIn(workspaceId, input.innerTaskId, input.generation)
  const folder = made?.folder as MadeIn | null | undefined
  if (!made || !folder)
    throw new Unfit('invalid_working_directory', 'The folder in which the result was made is not known.')
  const ofMaker = { slugs: [made.agent], withEnded: true }
  const [maker] = await kernel.store.agents.list(workspaceId, ofMaker, 1)
  const { cwd } = (maker?.record.adapterConfig ?? {}) as { cwd?: string }
  const inWorktree = folder.worktree && cwd !== undefined
  const where = inWorktree
    ? {
        cwd,
        workspace: 'git_worktree',
        baseBranch: folder.work?.commit ?? folder.worktree!.branch,
        cleanup: 'always',
      }
    : { cwd: folder.path }
  return { ...agent, adapterConfig: { ...(agent.adapterConfig as object), command: input.command, ...where } }
}
