import type { RunWork } from '../../kinds/run/record.ts'
import { type RunFolder, runFolderOf } from '../../kinds/run/shapes/folder.ts'
import { isOver } from '../../kinds/run/states.ts'

/** What earlier runs of a task left in its repository. */

type Worktree = NonNullable<RunFolder['worktree']>

export interface EarlierWork {
  runId: string
  agent: string
  generation: number
  node: string | null
  finishedAt: number | null
  isOver: boolean
  path: string
  worktree: Worktree
  /** Null: it was not saved. */
  commit: string | null
  /** What is unfinished in its folder: a merge, a rebase. */
  unfinished: string | null
}

/** Newest first: the work that a generation may take over, by runs in worktrees. */
export const earlierWork = (
  runs: readonly RunWork[],
  { runId, from }: { runId: string; from: number },
): EarlierWork[] =>
  runs.flatMap((run) => {
    const folder = runFolderOf(run.folder)
    if (run.id === runId || run.generation < from || !folder?.worktree) return []
    const { id, agent, generation, node, finishedAt, status } = run
    const { saved } = folder
    return [
      {
        ...{ runId: id, agent, generation, node, finishedAt, isOver: isOver(status) },
        ...{ path: folder.path, worktree: folder.worktree },
        commit: saved?.commit ?? null,
        unfinished: saved?.unfinished?.kind ?? null,
      },
    ]
  })

/** What a run begins with, of all that earlier ones left. */
export interface Beginning {
  /** The newest work, saved or not; null: the run is the first. */
  last: EarlierWork | null
  /** The newest work that is a commit. */
  saved: (EarlierWork & { commit: string }) | null
}

const isSaved = (work: EarlierWork): work is EarlierWork & { commit: string } => work.commit !== null

export const beginningOf = (works: readonly EarlierWork[]): Beginning => ({
  last: works[0] ?? null,
  saved: works.find(isSaved) ?? null,
})

type Named = Pick<EarlierWork, 'agent' | 'generation' | 'node'>

const who = ({ agent, generation, node }: Named) =>
  `the work of ${agent} at generation ${generation}${node === null ? '' : ` on node ${node}`}`

/** For the prompt, the run and the card: what the run does not begin with. */
export const missingText = (work: Named, why: string): string =>
  `This attempt does not contain ${who(work)}: ${why}.`
