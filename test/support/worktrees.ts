import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type Git, gitWith } from '../../src/executor/folders/git.ts'
import { type FolderRequest, prepareFolder } from '../../src/executor/folders/prepare.ts'
import { type SaveAbout, saveWork } from '../../src/executor/folders/save-work.ts'
import type { Worktree } from '../../src/executor/folders/worktree.ts'
import { KnownSecrets } from '../../src/pure/secrets/redaction.ts'
import { git, makeRepository } from './git.ts'

/** Worktrees of a real repository, as Baton prepares them. */

export const SECRET = 'sk-live-0123456789abcdef'

export interface Worktrees {
  home: string
  repository: string
  ours: Git
  /** The worktree of the task `t`, by default of its first generation. */
  open: (more?: Partial<FolderRequest>) => Promise<Worktree>
  save: (worktree: Worktree, more?: Partial<SaveAbout>) => ReturnType<typeof saveWork>
}

/** Anew for each test. */
export function useWorktrees(files?: Record<string, string>): Worktrees {
  const here = {} as Worktrees
  beforeEach(() => {
    here.home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-worktrees-')))
    here.repository = makeRepository(join(here.home, 'repo'), files)
    here.ours = gitWith({ PATH: process.env.PATH, HOME: here.home })
    here.open = async (more) => {
      const request: FolderRequest = {
        ...{ cwd: here.repository, workspace: 'git_worktree', dataFolder: join(here.home, '.baton') },
        ...{ workspaceId: 'w', agentSlug: 'dev', taskUuid: 't', generation: 1, allowedRoots: [] },
        ...more,
      }
      return (await prepareFolder(here.ours, request)).worktree!
    }
    here.save = (worktree, more) =>
      saveWork(here.ours, worktree, {
        author: { name: 'dev', email: 'dev@agents.localhost' },
        message: 'Save the work of dev',
        secrets: new KnownSecrets([SECRET]),
        resultCommit: null,
        ...more,
      })
  })
  afterEach(() => rmSync(here.home, { recursive: true, force: true }))
  return here
}

/** The files of a commit with their contents. */
export function filesAt(folder: string, commit: string): Record<string, string> {
  const names = git(folder, 'ls-tree', '-r', '-z', '--name-only', '--full-tree', commit)
  const paths = names.split('\0').filter(Boolean)
  return Object.fromEntries(paths.map((path) => [path, git(folder, 'show', `${commit}:${path}`)]))
}

export const statusOf = (folder: string) => git(folder, 'status', '--porcelain')
export const refsIn = (folder: string, below: string) =>
  git(folder, 'for-each-ref', '--format=%(refname)', below).split('\n').filter(Boolean)

/** A command of git that may fail, such as a merge with conflicts. */
export function attempt(folder: string, ...args: string[]): void {
  try {
    git(folder, ...args)
  } catch {
    // The folder shows what became of it.
  }
}
