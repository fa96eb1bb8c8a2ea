import { listOf, type WorktreeGit } from './worktree-git.ts'

/** Files whose contents go through a filter that Baton's git does not run: stored as they are, they would be wrong. */

export async function filesOfFiltersNotRun(git: WorktreeGit, paths: readonly string[]): Promise<string[]> {
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
