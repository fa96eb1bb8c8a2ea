import type { AgentRecord } from '../../kinds/agent/record.ts'
import { isFreshAgent } from '../../kinds/run/rules/policy.ts'
import { takesOverFrom } from '../../kinds/task/rules/continuation.ts'
import type { ExecutorContext } from '../context.ts'
import type { FolderRequest } from '../folders/prepare.ts'
import { WorkMissing, type WorkStart } from '../folders/work-start.ts'
import type { Folder } from '../folders/worktree.ts'
import type { Held } from '../holding.ts'
import { knownSecrets } from '../known-secrets.ts'
import { sleep } from '../timers.ts'
import { type Beginning, beginningOf, type EarlierWork, earlierWork, missingText } from './earlier-work.ts'
import { keepWork } from './keep-work.ts'
import { leaveToOthers } from './leave-to-others.ts'

/**
 * Where a run begins: at the last commit of the attempt before it, in the same folder, once no process is left in it. The
 * base, which the whole work is compared with, stays as it was.
 */

export interface BegunFolder {
  folder: Folder
  continues: { generation: number; agent: string; commit: string; isSameFolder: boolean } | null
  missing: string | null
  /** What the last attempt did not finish in this folder: a merge, a rebase. */
  unfinished: string | null
  /** The first generation whose session may be resumed. */
  sessionsFrom: number
}

/** A run that lost its claim ends within its grace period; one that does not is left alone. */
const WAIT_FOR_EARLIER_RUN_MS = 60_000
const LOOK_EVERY_MS = 100

interface About {
  workspaceId: number
  runId: string
  agent: AgentRecord
  held: Held
}

export async function beginWork(
  context: ExecutorContext,
  about: About,
  request: FolderRequest,
): Promise<BegunFolder> {
  const { held, agent } = about
  const sessionsFrom = takesOverFrom(held, isFreshAgent(agent.runtimeConfig))
  const { last, saved } = await settledWork(context, about, sessionsFrom)
  if (!last) return fromBase(context, request, null, sessionsFrom)
  const lost = saved?.runId === last.runId ? null : last
  const why = lost?.isOver ? 'it could not be saved' : 'its run has not ended'
  if (lost) leaveToOthers(context, lost, why)
  const missing = lost && missingText(lost, why)
  if (!saved) return fromBase(context, request, missing, sessionsFrom)
  try {
    const start = await startFrom(context, saved, lost !== null)
    const folder = await context.folders.prepare({ ...request, start })
    const isSameFolder = folder.worktree?.root === saved.worktree.root
    const { generation, agent, commit } = saved
    const unfinished = isSameFolder ? saved.unfinished : null
    return {
      ...{ folder, missing, unfinished, sessionsFrom },
      continues: { generation, agent, commit, isSameFolder },
    }
  } catch (error) {
    if (!(error instanceof WorkMissing)) throw error
    return fromBase(context, request, await whyMissing(context, saved), sessionsFrom)
  }
}

async function fromBase(
  { folders }: ExecutorContext,
  request: FolderRequest,
  missing: string | null,
  sessionsFrom: number,
): Promise<BegunFolder> {
  const folder = await folders.prepare({ ...request, start: null })
  return { folder, continues: null, missing, unfinished: null, sessionsFrom }
}

/** An agent that works in another repository of this machine would never find the commit, however long it waits. */
async function whyMissing(context: ExecutorContext, work: EarlierWork): Promise<string> {
  const { repository } = work.worktree
  if (await context.folders.hasRepository(repository)) return missingText(work, `it is in ${repository}`)
  const why = 'its commit is not on this node'
  leaveToOthers(context, work, why)
  return missingText(work, why)
}

/** What earlier runs left, once those that have lost their claim have ended and saved it. */
async function settledWork(context: ExecutorContext, about: About, from: number): Promise<Beginning> {
  const { kernel, timers } = context
  const { workspaceId, runId, held } = about
  const giveUpAt = timers.now() + WAIT_FOR_EARLIER_RUN_MS
  for (;;) {
    const works = earlierWork(await kernel.store.runs.workOf(workspaceId, held.taskId), { runId, from })
    if (works.every(({ isOver }) => isOver) || timers.now() >= giveUpAt)
      return beginningOf(await rescued(context, about, works))
    await sleep(timers, LOOK_EVERY_MS)
  }
}

/** The newest work was not saved when its run ended, but its folder is here: it is saved now. */
async function rescued(
  context: ExecutorContext,
  { workspaceId, held, agent }: About,
  works: readonly EarlierWork[],
): Promise<readonly EarlierWork[]> {
  const [last, ...others] = works
  if (!last || last.commit !== null || !last.isOver || !(await context.folders.isThere(last.worktree)))
    return works
  const { runId, generation, path, worktree } = last
  const kept = await keepWork(context, {
    ...{ workspaceId, runId, folder: { path, worktree }, isRunning: false },
    agent: { slug: last.agent, name: last.agent },
    held: { ...held, generation },
    secrets: await knownSecrets(context, agent),
  })
  const { saved } = kept
  return saved
    ? [{ ...last, commit: saved.commit, unfinished: saved.unfinished?.kind ?? null }, ...others]
    : works
}

/** Its own path, when the folder is not to be had: a process still works there, or its run has not ended. */
async function startFrom(
  { processes }: ExecutorContext,
  { commit, worktree }: EarlierWork & { commit: string },
  isTaken: boolean,
): Promise<WorkStart> {
  const { baseCommit, root } = worktree
  const isFree = !isTaken && (await processes.inFolder(root)).length === 0
  return { commit, baseCommit, root: isFree ? root : null }
}
