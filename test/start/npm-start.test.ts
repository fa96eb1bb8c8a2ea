import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { allGone, SERVER } from '../support/launched.ts'
import { dataFolder } from '../support/servers/data-folder.ts'

test.skipIf(process.platform !== 'linux')(
  'ending npm ends Baton: it stops cleanly when its parent has ended',
  async () => {
    const folder = await mkdtemp(join(dataFolder(), 'baton-npm-test-'))
    // As npm does it: a process between the user and Baton that passes no signals on.
    const code = `require('node:child_process').spawn(process.execPath, [${JSON.stringify(SERVER)}], { stdio: 'inherit' })`
    const env = {
      PATH: process.env.PATH,
      BATON_PORT: '0',
      BATON_DATA: join(folder, 'data'),
      npm_lifecycle_event: 'start',
    }
    const npm = spawn(process.execPath, ['-e', code], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    // When the output has no writer left, Baton itself has ended, too.
    const ended = once(npm, 'close')
    try {
      await new Promise<void>((ready) =>
        npm.stdout.on('data', (chunk) => String(chunk).includes('baton ready') && ready()),
      )
      expect(existsSync(join(folder, 'data/postgres/cluster/postmaster.pid'))).toBe(true)
      npm.kill('SIGTERM')
      await ended
      await allGone(folder)
      expect(existsSync(join(folder, 'data/postgres/cluster/postmaster.pid'))).toBe(false)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
)

/** What a file imports, and what that imports: names of packages and paths of files. */
function importedBy(file: string, found = new Set<string>()): Set<string> {
  for (const [, from] of readFileSync(file, 'utf8').matchAll(/(?:from|import\() ?'([^']+)'/g)) {
    const named = from!.startsWith('.') ? resolve(dirname(file), from!) : from!
    if (found.has(named)) continue
    found.add(named)
    if (named.endsWith('.mjs')) importedBy(named, found)
  }
  return found
}

test('what builds Baton runs in processes that end, so that the server has no memory of it', () => {
  const imported = [...importedBy(resolve('scripts/start.mjs'))]
  expect(imported).toContain(resolve('scripts/launch/build.mjs'))
  expect(imported.filter((name) => !/^node:|\.mjs$/.test(name))).toEqual([])
})
