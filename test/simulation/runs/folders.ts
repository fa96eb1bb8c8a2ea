import { WorkNotSaved } from '../../../src/executor/folders/found-work.ts'
import { FolderRefused } from '../../../src/executor/folders/refused.ts'
import { sleep, type Timers } from '../../../src/executor/timers.ts'
import type { WorkFolders } from '../../../src/executor/work/folders.ts'
import type { Machine } from './machine.ts'
import type { RunWorld } from './world.ts'

/**
 * Folders without git. A program leaves its mark in its folder; a commit is the set of marks that it contains. All machines share
 * the repository; a folder is on one machine, and outlives the nodes there.
 */

export type Marks = ReadonlySet<string>

export interface SimulatedFolder {
  marks: Set<string>
  branch: string
}

const REPOSITORY = '/repository/.git'
const BASE = 'base'

export class Repository {
  readonly #commits = new Map<string, Marks>([[BASE, new Set()]])
  readonly #ids = new Map<string, string>()

  commit(marks: Marks): string {
    const name = [...marks].sort().join(' ')
    const id = name === '' ? BASE : (this.#ids.get(name) ?? `commit-${this.#ids.size + 1}`)
    this.#ids.set(name, id)
    this.#commits.set(id, new Set(marks))
    return id
  }

  marksIn(commit: string): Marks {
    return this.#commits.get(commit) ?? new Set()
  }
}

export function simulatedFolders(world: RunWorld, machine: Machine, timers: Timers): WorkFolders {
  const { random, repository } = world
  const takesAWhile = () => sleep(timers, random.int(0, 20))
  const none = { unfinished: null, afterResult: null, replaced: [], leftOut: [], leftOutCount: 0 }
  return {
    async prepare({ taskUuid, generation, start }) {
      await takesAWhile()
      if (taskUuid === null) throw new FolderRefused('Only tasks have folders here.')
      const branch = `baton/${taskUuid}/gen-${generation}`
      const own = `/${machine.host}/${taskUuid}/gen-${generation}`
      const isThere = start?.root != null && machine.folders.has(start.root)
      const root = isThere ? start.root! : own
      const folder = machine.folders.get(root) ?? { marks: new Set<string>(), branch }
      if (!isThere && start) for (const mark of repository.marksIn(start.commit)) folder.marks.add(mark)
      folder.branch = branch
      machine.folders.set(root, folder)
      return { path: root, worktree: { root, repository: REPOSITORY, branch, baseCommit: BASE } }
    },
    prepareReview: async () => {
      throw new FolderRefused('Nobody judges here.')
    },
    async save({ root, branch }) {
      await takesAWhile()
      const folder = machine.folders.get(root)
      if (!folder) throw new WorkNotSaved('The folder is gone.')
      if (!world.calm && random.chance(0.02)) throw new WorkNotSaved('The disk is full.')
      return { ...none, branch, commit: repository.commit(folder.marks), committedFiles: 1 }
    },
    whyNotWhole: async () => [],
    record: async () => null,
    async clean({ worktree }) {
      await takesAWhile()
      machine.folders.delete(worktree!.root)
      return { isRemoved: true, why: null, isBranchDeleted: false }
    },
    hasRepository: async () => true,
    isThere: async ({ root }) => machine.folders.has(root),
    review: async () => ({ files: [], diff: '' }),
    identityIn: async () => ({}),
  }
}
