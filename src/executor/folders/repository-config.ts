import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import type { GitEnd } from './run-git.ts'

/**
 * The settings of a repository may name programs. Agents can write these settings, and git would run the programs as Baton:
 * so they are overridden by name, the only way git offers. What the user of this machine configured (git lfs) stays.
 */

type QueryGit = (...args: string[]) => Promise<GitEnd>

interface Setting {
  isOfRepository: boolean
  key: string
  value: string
}

/** Filters of files, and drivers of merges. */
const PROGRAM = /^(filter\..+\.(clean|smudge|process|required)|merge\..+\.driver)$/s
const INCLUDE = /^include(if\..+)?\.path$/s
/** Git itself follows fewer levels of includes, and a repository has a handful of filters. */
const MOST_FILES = 100
const MOST_FILTERS = 1_000

/** The settings of a repository cannot be made harmless. The message is half a sentence. */
export class UnsafeConfig extends Error {
  override name = 'UnsafeConfig'
}

/**
 * Settings that disable all filters of a repository, as environment variables: names of filters may contain any character.
 * Each query runs git in a folder whose settings apply. Returns git's own failure when it cannot read the settings of the
 * first folder.
 */
export async function filterOverrides(
  queries: readonly QueryGit[],
  home: string | undefined,
): Promise<{ env: Record<string, string> } | { failure: GitEnd }> {
  const names = new Set<string>()
  const own = new Map<string, string>()
  for (const [i, query] of queries.entries()) {
    const listed = await query('config', '--list', '--null', '--show-scope', '--no-includes')
    if (listed.code !== 0 && i === 0) return { failure: listed }
    // Where git cannot read the settings, it does nothing else either.
    if (listed.code !== 0) continue
    const settings = settingsIn(listed.stdout)
    const ofRepository = settings.filter(({ isOfRepository }) => isOfRepository)
    for (const { key } of ofRepository) names.add(key)
    if (ofRepository.some(({ key }) => INCLUDE.test(key)))
      for (const key of await includedKeys(query, home)) names.add(key)
    for (const { isOfRepository, key, value } of settings) if (!isOfRepository) own.set(key, value)
  }
  const filters = [...names].filter((key) => PROGRAM.test(key))
  if (filters.length > MOST_FILTERS) throw new UnsafeConfig(`its settings have ${filters.length} filters`)
  const env: Record<string, string> = { GIT_CONFIG_COUNT: String(filters.length) }
  filters.forEach((key, i) => {
    env[`GIT_CONFIG_KEY_${i}`] = key
    // An empty value disables a filter; a disabled filter must not be required. A driver that is the program `false` leaves
    // its file as a conflict.
    env[`GIT_CONFIG_VALUE_${i}`] = own.get(key) ?? (/\.(required|driver)$/.test(key) ? 'false' : '')
  })
  return { env }
}

/** Pairs of a scope and a setting, each terminated by NUL; a setting is its key, a newline and its value. */
function settingsIn(listing: string): Setting[] {
  const words = listing.split('\0')
  const settings: Setting[] = []
  for (let at = 0; at + 1 < words.length; at += 2) {
    const [scope, setting] = [words[at]!, words[at + 1]!]
    settings.push({ isOfRepository: scope === 'local' || scope === 'worktree', ...keyAndValue(setting) })
  }
  return settings
}

function keyAndValue(setting: string): { key: string; value: string } {
  const end = setting.indexOf('\n')
  return end === -1
    ? { key: setting, value: '' }
    : { key: setting.slice(0, end), value: setting.slice(end + 1) }
}

/** The keys in all included files, whatever the condition of the include: it may become true for the next command. */
async function includedKeys(query: QueryGit, home: string | undefined): Promise<string[]> {
  const dirs = await query('rev-parse', '--path-format=absolute', '--git-common-dir', '--git-dir')
  const [common, own] = dirs.stdout.trim().split('\n')
  if (dirs.code !== 0 || !common || !own) throw new UnsafeConfig('its settings cannot be found')
  const files = [join(common, 'config'), join(own, 'config.worktree')]
  const keys: string[] = []
  for (const file of files) {
    if (files.length > MOST_FILES)
      throw new UnsafeConfig(`its settings include more than ${MOST_FILES} files`)
    const found = await stat(file).catch(() => null)
    if (!found) continue
    // Git would wait for a pipe, and a device may be endless.
    if (!found.isFile()) throw new UnsafeConfig(`its settings include ${file}, which is not a regular file`)
    const listed = await query('config', '--file', file, '--no-includes', '--list', '--null')
    if (listed.code !== 0) throw new UnsafeConfig(`its settings include ${file}, which cannot be read`)
    for (const { key, value } of listed.stdout.split('\0').map(keyAndValue)) {
      keys.push(key)
      const next = INCLUDE.test(key) ? includedFile(value, file, home) : null
      if (next !== null && !files.includes(next)) files.push(next)
    }
  }
  return keys
}

function includedFile(value: string, from: string, home: string | undefined): string {
  if (home !== undefined && value.startsWith('~/')) return join(home, value.slice(2))
  // The home of another user, or the installation folder of git.
  if (value.startsWith('~') || value.startsWith('%(')) throw new UnsafeConfig(`its settings include ${value}`)
  return isAbsolute(value) ? value : resolve(dirname(from), value)
}
