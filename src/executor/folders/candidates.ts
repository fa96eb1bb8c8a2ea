import { GitFailed, reasonOf } from './git.ts'
import type { WorktreeGit } from './worktree-git.ts'

/** Files that differ from a commit, as git lists them: staged, changed, deleted and new ones that it does not ignore. */

interface Entry {
  mode: string
  oid: string
}

export interface Candidate {
  path: string
  /** Its entry in the commit; `same`: the one of the index; null: it is new. */
  before: Entry | 'same' | null
  isInIndex: boolean
  isUnmerged: boolean
  /** By git's own look at the folder, which does not follow links. */
  isGone: boolean
  /** A repository of its own, and whether it was one before: a submodule. */
  isRepository: boolean
  wasRepository: boolean
  /** The folder differs from the index; otherwise the index is right, also about files that are not checked out. */
  isOpen: boolean
}

export interface Candidates {
  files: Map<string, Candidate>
  /** Folders that git could not read. */
  unreadable: string[]
}

const REPOSITORY_MODE = '160000'
const MOST_NEW_FILES = 300_000

/** There are more new files than can be looked at. */
class TooManyFiles extends Error {
  override name = 'TooManyFiles'
}

export async function candidatesIn(git: WorktreeGit, commit: string): Promise<Candidates> {
  const files = new Map<string, Candidate>()
  const fileAt = (path: string, first: Partial<Candidate>) => {
    const known = files.get(path)
    if (known) return known
    const found = { path, before: null, isInIndex: true, ...NOTHING_KNOWN, ...first }
    files.set(path, found)
    return found
  }
  await eachChange(git, ['diff-index', '--cached', ...RAW, commit, '--'], (change) => {
    const file = fileAt(change.path, { before: change.from, wasRepository: isRepository(change.from) })
    if (change.letter === 'U') file.isUnmerged = true
    if (change.letter === 'D') file.isInIndex = false
    file.isGone = change.letter === 'D'
    file.isRepository = change.toMode === REPOSITORY_MODE
  })
  await eachChange(git, ['diff-files', ...RAW, '--ignore-submodules=dirty', '--'], (change) => {
    // A file that is only announced to git has no entry in the commit.
    const before = change.letter === 'A' ? null : 'same'
    const file = fileAt(change.path, { before, wasRepository: isRepository(change.from) })
    file.isOpen = true
    if (change.letter === 'U') file.isUnmerged = true
    file.isGone = change.toMode === NO_MODE
    file.isRepository = change.toMode === REPOSITORY_MODE
  })
  const unreadable = await newFilesIn(git, (path) => {
    const file = fileAt(path, { isInIndex: false })
    file.isOpen = true
    file.isGone = false
    file.isRepository = path.endsWith('/')
  })
  return { files, unreadable }
}

const NOTHING_KNOWN = {
  ...{ isUnmerged: false, isGone: false, isRepository: false, wasRepository: false, isOpen: false },
}
const isRepository = (entry: Entry | null) => entry?.mode === REPOSITORY_MODE
const NO_MODE = '000000'
const RAW = ['--raw', '-z', '--no-abbrev', '--no-renames']

interface Change {
  path: string
  from: Entry | null
  toMode: string
  letter: string
}

/** `:100644 100755 <oid> <oid> M\0path\0`. */
async function eachChange(
  git: WorktreeGit,
  args: readonly string[],
  take: (change: Change) => void,
): Promise<void> {
  let about: string | null = null
  await git.fields(args, (field) => {
    if (about === null) about = field
    else {
      const [mode, toMode, oid, , letter] = about.slice(1).split(' ') as [
        string,
        string,
        string,
        string,
        string,
      ]
      take({ path: field, from: mode === NO_MODE ? null : { mode, oid }, toMode, letter })
      about = null
    }
    return true
  })
}

async function newFilesIn(git: WorktreeGit, take: (path: string) => void): Promise<string[]> {
  let count = 0
  const end = await git.fields(['ls-files', '--others', '--exclude-standard', '-z'], (path) => {
    take(path)
    return ++count <= MOST_NEW_FILES
  })
  if (count > MOST_NEW_FILES)
    throw new TooManyFiles(`it has more than ${MOST_NEW_FILES} new files that git does not ignore`)
  if (end.code !== 0) throw new GitFailed(`git did not list the new files in ${git.root}: ${reasonOf(end)}`)
  return [...end.stderr.matchAll(/could not open directory '(.+?)'/gs)].map(([, folder]) => folder!)
}
