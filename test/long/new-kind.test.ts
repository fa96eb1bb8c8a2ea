import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

/** What it takes to add a kind: the patch beside this file adds notes, which are made, listed, removed, and end at their time. */

const ROOT = resolve(import.meta.dirname, '../..')
const PATCH = join(import.meta.dirname, 'new-kind.patch')
const LARGEST_PATCH = 10

const changedFiles = () =>
  [...readFileSync(PATCH, 'utf8').matchAll(/^diff --git a\/(\S+) /gm)].map(([, path]) => path!)

test(`is a patch of at most ${LARGEST_PATCH} files: its folder, the list of kinds and a migration`, () => {
  const paths = changedFiles()
  expect(paths.length).toBeGreaterThan(5)
  expect(paths.length).toBeLessThanOrEqual(LARGEST_PATCH)
  const beside = paths.filter((path) => !path.startsWith('src/kinds/note/'))
  expect(beside).toEqual(['src/kinds/all.ts', expect.stringMatching(/^src\/postgres\/schema\/migrations\//)])
})

/** What every kind promises, by tests that name none. */
const PROMISES = [
  ...['access', 'bad-requests', 'bad-input'].map((name) => `test/server/${name}.test.ts`),
  ...['tenancy', 'plain-kinds'].map((name) => `test/postgres/${name}.test.ts`),
]

test('and keeps the promises of every kind, without a test of its own', { timeout: 1_800_000 }, () => {
  const copy = mkdtempSync(join(tmpdir(), 'baton-new-kind-'))
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }))
  const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  for (const file of files.trim().split('\n'))
    cpSync(join(ROOT, file), join(copy, file), { recursive: true, force: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  execFileSync('git', ['apply', PATCH], {
    cwd: copy,
    env: { ...process.env, GIT_CEILING_DIRECTORIES: dirname(copy) },
  })
  const { BATON_TEST_ROUNDS: _, ...env } = process.env
  const { stdout, status } = spawnSync(
    process.execPath,
    ['scripts/test.mjs', '--reporter=verbose', ...PROMISES],
    {
      ...{ cwd: copy, env, encoding: 'utf8', maxBuffer: 1 << 28 },
    },
  )
  expect(status, stdout.slice(-5_000)).toBe(0)
  // Among the titles of tests that name no kind.
  expect(stdout).toMatch(/of notes: another workspace/)
  expect(stdout).toMatch(/records of the kind 'note'/)
})
