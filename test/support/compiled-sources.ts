import { existsSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import type { Plugin } from 'vitest/config'

const root = resolve(import.meta.dirname, '../..')
/** What tests import from here they get compiled. */
const FOLDERS = ['src', 'stores', 'test/simulation'].map((folder) => join(root, folder) + sep)
/** Loaded by Node itself, not by vite. */
export const COMPILED = new RegExp(`^${join(root, 'dist')}/`)

/**
 * Tests import the compiled form of our files, which the run has built before, as programs do. Otherwise vite would transform
 * them once more for each kind of test, and their calls would go through its wrappers. While files are watched they are
 * transformed, so that a change is seen at once.
 */
export function compiledSources(): Plugin {
  let isWatching = false
  return {
    name: 'compiled-sources',
    enforce: 'pre',
    configureVitest({ vitest }) {
      isWatching = vitest.config.watch
    },
    resolveId(id, importer) {
      if (isWatching || !importer || !id.startsWith('.') || !id.endsWith('.ts')) return null
      const file = resolve(importer, '..', id)
      if (!FOLDERS.some((folder) => file.startsWith(folder))) return null
      const compiled = join(root, 'dist', relative(root, file)).replace(/\.ts$/, '.js')
      return existsSync(compiled) ? compiled : null
    },
  }
}
