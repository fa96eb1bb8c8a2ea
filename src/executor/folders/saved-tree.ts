import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import type { KnownSecrets } from '../../pure/secrets/redaction.ts'
import { type Candidate, type Candidates, candidatesIn } from './candidates.ts'
import { heaviestFolders } from './heaviest.ts'
import { type Bounds, isNamedLikeSecret, LeftOutFiles } from './left-out.ts'
import { beginOwnIndex, update } from './own-index.ts'
import { unlessMissing } from './places.ts'
import { containsSecret, type FileLook, forEachOf, lookAt, searchFile } from './secret-search.ts'
import { inSlices } from './slices.ts'
import { bytesOf, listOf, textOfPath, type WorktreeGit } from './worktree-git.ts'

/** Files whose contents go through a filter that Baton's git does not run: stored as they are, they would be wrong. */

async function filesOfFiltersNotRun(git: WorktreeGit, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return []
  const filterOf = new Map<string, string>()
  let [path, at] = ['', 0]
  await git.fields(
    ['check-attr', '-z', '--stdin', 'filter'],
    (field) => {
      if (at === 0) path = field
      if (at === 2 && !['unspecified', 'unset', 'set'].includes(field)) filterOf.set(path, field)
      at = (at + 1) % 3
      return true
    },
    listOf(paths),
  )
  if (filterOf.size === 0) return []
  const run = await filtersRun(git)
  return [...filterOf].filter(([, name]) => !run.has(name)).map(([of]) => of)
}

/** By the settings that hold for Baton's git: a filter that only the repository names is disabled in them. */
async function filtersRun(git: WorktreeGit): Promise<Set<string>> {
  const programs = new Map<string, string>()
  const { stdout } = await git.run([
    ...['config', '--null', '--get-regexp'],
    '^filter\\..*\\.(clean|smudge|process)$',
  ])
  for (const setting of stdout.split('\0')) {
    const end = setting.indexOf('\n')
    if (end !== -1) programs.set(setting.slice(0, end), setting.slice(end + 1))
  }
  const names = [...programs].filter(([, program]) => program !== '').map(([key]) => key)
  return new Set(names.map((key) => Buffer.from(key.slice(7, key.lastIndexOf('.'))).toString('latin1')))
}

/** The paths of the submodules that the worktree has registered. */
async function submodulesIn(git: WorktreeGit): Promise<Set<string>> {
  const file = join(git.root, '.gitmodules')
  if (!(await unlessMissing(lstat(file)))?.isFile()) return new Set()
  const paths = new Set<string>()
  const args = [
    'config',
    '--file',
    file,
    '--no-includes',
    '--null',
    '--get-regexp',
    '^submodule\\..*\\.path$',
  ]
  const { stdout } = await git.run(args)
  for (const setting of stdout.split('\0')) {
    const end = setting.indexOf('\n')
    if (end !== -1) paths.add(Buffer.from(setting.slice(end + 1)).toString('latin1'))
  }
  return paths
}

/** The files of a worktree as a tree of git, without those that are left out. */

export interface SavedTree {
  tree: string
  /** How many files differ from the commit. */
  fileCount: number
  leftOut: LeftOutFiles
  /** Files that git has as conflicting. */
  unmerged: string[]
}

interface About {
  bounds: Bounds
  secrets: KnownSecrets
}

const MOST_ROUNDS = 3

/** `git` works on an index of its own, which then has the tree, too. */
export async function savedTree(git: WorktreeGit, commit: string, about: About): Promise<SavedTree> {
  for (let round = 1; ; round++) {
    await beginOwnIndex(git, commit)
    const found = await candidatesIn(git, commit)
    const unmerged = [...found.files.values()].filter(({ isUnmerged }) => isUnmerged).map(({ path }) => path)
    const sorting = new Sorting(git, commit, found, about)
    await sorting.sort()
    try {
      await sorting.apply()
    } catch (error) {
      // A file may have changed or gone since it was listed.
      if (round === MOST_ROUNDS) throw error
      continue
    }
    const { leftOut } = sorting
    // Whatever git did not take, for whatever reason, is not dropped in silence.
    const after = found.files.size === 0 ? found : await candidatesIn(git, commit)
    const open = [...after.files.values()].filter(({ path, isOpen }) => isOpen && !leftOut.has(path))
    if (open.length > 0 && round < MOST_ROUNDS) continue
    for (const { path } of open) leftOut.add(path, 'refused_by_git')
    const tree = await git.output(['write-tree'])
    return { tree, fileCount: await countChanges(git, commit, tree), leftOut, unmerged }
  }
}

async function countChanges(git: WorktreeGit, commit: string, tree: string): Promise<number> {
  let count = 0
  await git.fields(['diff-tree', '-r', '-z', '--name-only', '--no-renames', commit, tree], () => ++count > 0)
  return count
}

/** Decides for each file whether it is added, removed or left out. */
class Sorting {
  readonly leftOut: LeftOutFiles
  readonly #git: WorktreeGit
  readonly #commit: string
  readonly #found: Candidates
  readonly #about: About
  readonly #removed = new Set<string>()
  /** What is still to be added. */
  readonly #added = new Map<string, Candidate>()
  readonly #looks = new Map<string, FileLook>()

  constructor(git: WorktreeGit, commit: string, found: Candidates, about: About) {
    this.#git = git
    this.#commit = commit
    this.#found = found
    this.#about = about
    this.leftOut = new LeftOutFiles(about.secrets)
  }

  async sort(): Promise<void> {
    for (const folder of this.#found.unreadable) this.leftOut.add(folder, 'unreadable')
    await this.#byPath()
    await this.#byNumber()
    await forEachOf([...this.#added.values()], (file) => this.#byLook(file))
    await this.#bySum()
    for (const path of await filesOfFiltersNotRun(this.#git, [...this.#looks.keys()]))
      this.#leaveOut(path, 'filter', this.#bytesOf(path))
    await forEachOf([...this.#looks], ([path, look]) => this.#byContents(path, look))
  }

  async #byPath(): Promise<void> {
    const { secrets } = this.#about
    const registered = await submodulesIn(this.#git)
    await inSlices(this.#found.files.values(), (file) => {
      const { path, before, isGone, isRepository, wasRepository } = file
      if (isGone) this.#removed.add(path)
      else if (isRepository && !wasRepository && !registered.has(path)) this.leftOut.add(path, 'repository')
      else if (containsSecret(secrets, textOfPath(path))) this.leftOut.add(path, 'secret')
      else if (before === null && !isRepository && isNamedLikeSecret(path))
        this.leftOut.add(path, 'secret_name')
      else this.#added.set(path, file)
    })
  }

  #newFiles(): Candidate[] {
    return [...this.#added.values()].filter(({ before, isRepository }) => before === null && !isRepository)
  }

  async #byNumber(): Promise<void> {
    const { mostFiles } = this.#about.bounds
    const files = this.#newFiles().map(({ path }) => ({ path, weight: 1 }))
    if (files.length <= mostFiles) return
    for (const { folder, paths } of await heaviestFolders(files, mostFiles)) {
      this.leftOut.addFolder(folder, paths, 'too_many')
      for (const path of paths) this.#added.delete(path)
    }
  }

  async #byLook({ path, before, isRepository, isOpen }: Candidate): Promise<void> {
    const { bounds } = this.#about
    if (isRepository) return
    const look = await lookAt(this.#git.root, path)
    if (look.kind === 'unreadable' || look.kind === 'special_file') return this.#leaveOut(path, look.kind)
    if (look.kind === 'missing' || look.kind === 'folder') {
      this.#added.delete(path)
      if (isOpen) this.#removed.add(path)
      return
    }
    const most = before === null ? bounds.mostBytes : bounds.mostBytesOfChanged
    if (look.kind === 'file' && look.bytes > most) return this.#leaveOut(path, 'too_large', look.bytes)
    this.#looks.set(path, look)
  }

  async #bySum(): Promise<void> {
    const { mostBytesTogether } = this.#about.bounds
    const files = this.#newFiles().map(({ path }) => ({ path, weight: this.#bytesOf(path) ?? 0 }))
    for (const { folder, paths } of await heaviestFolders(files, mostBytesTogether)) {
      this.leftOut.addFolder(folder, paths, 'too_much')
      for (const path of paths) {
        this.#added.delete(path)
        this.#looks.delete(path)
      }
    }
  }

  async #byContents(path: string, look: FileLook): Promise<void> {
    if (!this.#added.has(path)) return
    const searched = await searchFile(this.#git.root, path, look, this.#about.secrets)
    if (searched === 'secret' || searched === 'unreadable')
      this.#leaveOut(path, searched, this.#bytesOf(path))
  }

  #bytesOf(path: string): number | undefined {
    const look = this.#looks.get(path)
    return look?.kind === 'file' ? look.bytes : undefined
  }

  #leaveOut(path: string, why: Parameters<LeftOutFiles['add']>[1], bytes?: number): void {
    this.#added.delete(path)
    this.leftOut.add(path, why, bytes)
  }

  /** Brings the index to what was decided. What is left out gets the entry it has in the commit, or none. */
  async apply(): Promise<void> {
    const none = '0'.repeat(this.#commit.length)
    const lines: Buffer[] = []
    const entry = (path: string, mode: string, oid: string) =>
      lines.push(Buffer.from(`${mode} ${oid} 0\t`), bytesOf(path), Buffer.from('\0'))
    for (const { path, before, isInIndex } of this.#found.files.values()) {
      const isLeftOut = this.leftOut.has(path)
      if (this.#removed.has(path) || (isLeftOut && before === null && isInIndex)) entry(path, '0', none)
      else if (isLeftOut && before !== null && before !== 'same') entry(path, before.mode, before.oid)
    }
    await update(this.#git, ['-z', '--index-info'], Buffer.concat(lines))
    await update(this.#git, ['--add', '--remove', '--replace', '-z', '--stdin'], listOf(this.#added.keys()))
  }
}
