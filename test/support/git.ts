import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Real repositories in temporary folders. */

export const isGitHere = spawnSync('git', ['--version']).status === 0

const WHO = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']

/** What git prints, as a person or an agent would run it: whatever this machine's settings are. */
export function git(folder: string, ...args: string[]): string {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }
  return execFileSync('git', [...WHO, '-C', folder, ...args], { env, encoding: 'utf8', stdio: 'pipe' }).trim()
}

export function put(folder: string, path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** Returns the commit. */
export function commit(folder: string, files: Record<string, string>, message = 'more'): string {
  for (const [path, text] of Object.entries(files)) put(folder, path, text)
  git(folder, 'add', '--all')
  git(folder, 'commit', '--quiet', '--allow-empty', '-m', message)
  return git(folder, 'rev-parse', 'HEAD')
}

/** A repository for each set of files, made once in this process: copying it is much less work than four calls of git. */
const made = new Map<string, string>()
process.once('exit', () => {
  for (const folder of made.values()) rmSync(folder, { recursive: true, force: true })
})

function madeWith(files: Record<string, string>): string {
  const content = JSON.stringify(files)
  const before = made.get(content)
  if (before) return before
  const folder = mkdtempSync(join(tmpdir(), 'baton-repository-'))
  made.set(content, folder)
  git(folder, 'init', '--quiet', '--initial-branch=main')
  commit(folder, files, 'first')
  return folder
}

/** A repository with one commit, on the branch main. */
export function makeRepository(
  folder: string,
  files: Record<string, string> = { 'readme.md': 'one\n' },
): string {
  mkdirSync(folder, { recursive: true })
  cpSync(madeWith(files), folder, { recursive: true, preserveTimestamps: true })
  return folder
}
