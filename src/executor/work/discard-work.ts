import { join } from 'node:path'
import type { DiscardedWork, RemovableWork, WorkToDiscard } from '../../door/execution.ts'
import type { RunWork } from '../../kinds/run/record.ts'
import { runFolderOf } from '../../kinds/run/shapes/folder.ts'
import { Refused } from '../../pure/errors.ts'
import { grouped } from '../../pure/grouped.ts'
import type { ExecutorContext } from '../context.ts'
import type { Git } from '../folders/git.ts'
import { isFolder, nameFor, realDataFolder } from '../folders/places.ts'
import { removeRefs, type TaskRef, taskRefs } from '../folders/task-refs.ts'
import { notCheckedOut, onlyHere, refsHolding, removeWork } from '../folders/task-work.ts'

/** Removes the work of a task that nobody wants: first it is known that all of it can go, then it is recorded, then it goes. */

interface Found {
  repository: string
  refs: TaskRef[]
  roots: string[]
}

const MOST_GENERATIONS = 1_000

export async function discardWork(
  context: Pick<ExecutorContext, 'processes' | 'dataFolder'>,
  git: Git,
  work: WorkToDiscard,
  record: (found: RemovableWork) => Promise<void>,
): Promise<DiscardedWork> {
  const isWanted = ({ generation }: { generation: number }) =>
    work.generation === null || generation === work.generation
  const byRepository = grouped(work.runs, (run) => worktreeOf(run).repository)
  const here: Found[] = []
  const elsewhere: RunWork[] = []
  for (const [repository, runs] of byRepository)
    if (await isFolder(repository))
      here.push(await findIn(context, git, { repository, runs, work, isWanted }))
    else elsewhere.push(...runs.filter(isWanted))
  if (here.length === 0) throw new Refused('CHANGES_UNAVAILABLE', whereItIs(elsewhere))
  const generations = generationsOf(
    [...work.runs, ...here.flatMap(({ refs }) => refs)].filter(isWanted),
    work,
  )
  const refs = here.flatMap((one) => one.refs)
  const folders = here.reduce((sum, { roots }) => sum + roots.length, 0)
  await record({ generations, branches: refs.length, folders })
  const worktrees = join(await realDataFolder(context.dataFolder), 'worktrees')
  for (const found of here) await removeWork(git, found.repository, { ...found, worktrees })
  return {
    generations: refs.length + folders === 0 ? [] : generations,
    branches: refs.map(({ ref }) => ref.replace(/^refs\/heads\//, '')),
    folders,
    elsewhere: [...grouped(elsewhere, ({ node }) => node)].map(([node, runs]) => ({
      node,
      generations: generationsOf(runs, work),
    })),
  }
}

const worktreeOf = ({ folder }: RunWork) => runFolderOf(folder)!.worktree!

/** An agent can make refs of any generation: later ones than the present are nobody's work. */
const generationsOf = (of: readonly { generation: number }[], { lastGeneration }: WorkToDiscard) =>
  [...new Set(of.map(({ generation }) => generation))]
    .filter((generation) => generation <= lastGeneration)
    .sort((a, b) => a - b)
    .slice(-MOST_GENERATIONS)

const whereItIs = (runs: readonly RunWork[]) => {
  const nodes = [...new Set(runs.flatMap(({ node }) => node ?? []))]
  return nodes.length === 0
    ? 'The repository of the task is not on this node.'
    : `The repository of the task is not on this node: ask ${nodes.join(' or ')}.`
}

interface Search {
  repository: string
  /** Newest first. */
  runs: readonly RunWork[]
  work: WorkToDiscard
  isWanted: (one: { generation: number }) => boolean
}

/** Refused where something of it must stay. */
async function findIn(
  { processes }: Pick<ExecutorContext, 'processes'>,
  git: Git,
  { repository, runs, work, isWanted }: Search,
): Promise<Found> {
  const all = await taskRefs(git, repository, nameFor(work.taskUuid))
  const refs = all.filter(isWanted)
  const accepted = work.accepted === null ? [] : await onlyHere(git, repository, [work.accepted])
  const holding = await refsHolding(git, repository, all, accepted)
  if (refs.some(({ ref }) => holding.has(ref)))
    throw new Refused(
      'WORK_KEPT',
      'The work was accepted, and no branch of a person contains it: merge it first, or reset the task.',
    )
  const roots = await rootsOf(runs, isWanted)
  for (const root of roots)
    if ((await processes.inFolder(root)).length > 0)
      throw new Refused('WRONG_STATE', 'A process still works in the folder of the task: end it first.')
  const free = await notCheckedOut(git, repository, refs, roots)
  const taken = refs.find((ref) => !free.includes(ref))
  if (taken)
    throw new Refused(
      'WRONG_STATE',
      `The branch of generation ${taken.generation} is checked out in another folder: check out another branch there.`,
    )
  if ((await removeRefs(git, repository, refs, true)) !== null)
    throw new Refused('CHANGES_UNAVAILABLE', 'git cannot remove the branches of the task on this node.')
  return { repository, refs, roots }
}

/** A folder belongs to the last generation that worked there. */
async function rootsOf(runs: readonly RunWork[], isWanted: Search['isWanted']): Promise<string[]> {
  const roots: string[] = []
  for (const [root, [last]] of grouped(runs, (run) => worktreeOf(run).root))
    if (isWanted(last!) && (await isFolder(root))) roots.push(root)
  return roots
}
