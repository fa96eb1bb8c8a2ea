import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { unlessMissing } from './places.ts'
import type { WorktreeGit } from './worktree-git.ts'

/** The paths of the submodules that the worktree has registered. */
export async function submodulesIn(git: WorktreeGit): Promise<Set<string>> {
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
