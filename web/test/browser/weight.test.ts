import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'

/** What the app weighs, as it is built. */

const app = resolve(import.meta.dirname, '../../../dist/web')

interface Chunk {
  file: string
  src?: string
  isEntry?: boolean
  imports?: string[]
}
type Manifest = Record<string, Chunk>

const manifest: Manifest = JSON.parse(readFileSync(join(app, '.vite/manifest.json'), 'utf8'))
const scripts = readdirSync(join(app, 'assets')).filter((file) => file.endsWith('.js'))
const textOf = (file: string) => readFileSync(join(app, 'assets', file), 'utf8')
const gzipBytes = (path: string) => gzipSync(readFileSync(join(app, path))).length

/** All that is loaded before this chunk can run. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const needed of manifest[name]!.imports ?? []) closureOf(needed, found)
  return found
}

const isScript = (name: string) => manifest[name]!.file.endsWith('.js')
const firstLoadOf = (page: string) => {
  const entry = Object.keys(manifest).find((name) => manifest[name]!.isEntry)!
  const names = new Set([...closureOf(entry), ...closureOf(page)])
  return [...names]
    .filter(isScript)
    .map((name) => [manifest[name]!.file, gzipBytes(manifest[name]!.file)] as const)
}

describe('the built app', () => {
  const pages = Object.keys(manifest).filter((name) => /^src\/pages\/.*\/page\.tsx$/.test(name))

  test.each(pages)('needs at most 250 KB of scripts to show %s', (page) => {
    const loaded = firstLoadOf(page)
    const bytes = loaded.reduce((sum, [, size]) => sum + size, 0)
    expect(bytes, JSON.stringify(loaded)).toBeLessThanOrEqual(250_000)
  })

  test.each(scripts)('has in %s no more than 110 KB', (file) => {
    expect(gzipBytes(join('assets', file))).toBeLessThanOrEqual(110_000)
  })

  /** Words that stay in a library when it is minified. */
  const FOREIGN = { zod: '$ZodType', dagre: 'dagre', moment: '_isAMomentObject' }

  test.each(Object.entries(FOREIGN))('contains no %s', (_, sign) => {
    expect(scripts.filter((file) => textOf(file).includes(sign))).toEqual([])
  })

  test('would be found to contain zod', () => {
    const zod = createRequire(import.meta.url).resolve('zod/v4/core')
    expect(readFileSync(join(zod, '../schemas.js'), 'utf8')).toContain(`"${FOREIGN.zod}"`)
  })

  test('is also stored compressed', () => {
    const missing = scripts.flatMap((file) => ['br', 'gz'].map((kind) => `${file}.${kind}`))
    expect(missing.filter((file) => !existsSync(join(app, 'assets', file)))).toEqual([])
  })
})
