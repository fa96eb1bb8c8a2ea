import type pg from 'pg'
import { systemCaller } from '../../kernel/caller.ts'
import {
  type OldWork,
  oldWorkIn,
  repositoriesOfWork,
  type WorkspaceRepository,
} from '../../kinds/run/postgres/work-reads.ts'
import { grouped } from '../../pure/grouped.ts'
import { idCarriedBy } from '../../pure/ids.ts'
import type { ExecutorContext } from '../context.ts'
import type { Git } from '../folders/git.ts'
import { isFolder } from '../folders/places.ts'
import { removeRefs, type TaskRef, taskRefs } from '../folders/task-refs.ts'
import { notCheckedOut, onlyHere, refsHolding } from '../folders/task-work.ts'

/**
 * Removes the branches of tasks that ended long ago, in the repositories of this node. Accepted work stays as long as no branch
 * of a person contains it. Recorded first: what a crash leaves is removed, and recorded, the next time.
 */

const TASKS_AT_A_TIME = 500
/** The rest is removed the next time. */
const MOST_TASKS = 1_000

type Context = Pick<ExecutorContext, 'kernel' | 'log'>

export async function removeOldBranches(
  context: Context,
  git: Git,
  pool: pg.Pool,
  signal?: AbortSignal,
): Promise<number> {
  let removed = 0
  for (const place of await repositoriesOfWork(pool)) {
    if (signal?.aborted || removed >= MOST_TASKS) break
    if (!(await isFolder(place.repository))) continue
    try {
      removed += await removeIn(context, git, pool, place, signal)
    } catch (error) {
      // A repository that git cannot read must not keep the others.
      context.log.warn({ err: error, repository: place.repository }, 'old branches could not be removed')
    }
  }
  return removed
}

async function removeIn(
  context: Context,
  git: Git,
  pool: pg.Pool,
  place: WorkspaceRepository,
  signal?: AbortSignal,
): Promise<number> {
  const refs = grouped(await taskRefs(git, place.repository), ({ task }) => task)
  const ids = [...refs.keys()].map(idCarriedBy).filter((id) => id !== null)
  let removed = 0
  for (let at = 0; at < ids.length; at += TASKS_AT_A_TIME) {
    const old = await oldWorkIn(pool, place, ids.slice(at, at + TASKS_AT_A_TIME))
    const kept = new Set(
      await onlyHere(git, place.repository, [...new Set(old.flatMap((one) => one.accepted))]),
    )
    for (const task of old) {
      if (signal?.aborted || removed >= MOST_TASKS) return removed
      const own = refs.get(task.uuid) ?? []
      if (await removeOf(context, git, place, task, own, kept)) removed += 1
    }
  }
  return removed
}

/** Whether something was removed. */
async function removeOf(
  { kernel, log }: Context,
  git: Git,
  { workspaceId, repository }: WorkspaceRepository,
  { id, uuid, version, generation, accepted }: OldWork,
  own: readonly TaskRef[],
  kept: ReadonlySet<string>,
): Promise<boolean> {
  const holding = await refsHolding(
    git,
    repository,
    own,
    accepted.filter((commit) => kept.has(commit)),
  )
  const superseded = own.filter(({ ref }) => !holding.has(ref))
  if (superseded.length === 0) return false
  // A folder in which files were left out keeps its branch.
  const refs = await notCheckedOut(git, repository, superseded)
  if (refs.length === 0) return false
  const why = await removeRefs(git, repository, refs, true)
  if (why !== null) {
    log.warn({ repository, task: uuid, why }, 'old branches of a task cannot be removed')
    return false
  }
  const generations = [...new Set(refs.map((ref) => ref.generation))]
    .filter((one) => one <= generation)
    .sort((a, b) => a - b)
  const reply = await kernel.run(systemCaller(workspaceId), {
    ...{ on: 'task', taskId: id, uuid },
    command: {
      ...{ kind: 'removeWork', because: 'retention', generations, version },
      ...{ branches: refs.length, folders: 0 },
    },
  })
  // Somebody has opened it again.
  if (!reply.ok) return false
  await removeRefs(git, repository, refs)
  return true
}
