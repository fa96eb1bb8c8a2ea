import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runChild } from '../../src/adapters/child/run-child.ts'
import { spawnErrorOf } from '../../src/adapters/child/spawn-error.ts'
import { programCheck } from '../../src/adapters/process.ts'
import { freshRunId, never } from '../support/adapter-runs.ts'

/** Programs are looked up before their permissions are blamed. */

let folder: string
/** A PATH as after `su`: its first folder may not be entered. (Root may enter every folder: for root it is only empty.) */
let path: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-program-'))
  const closed = join(folder, 'closed')
  const open = join(folder, 'open')
  for (const made of [closed, open, join(folder, 'later')]) mkdirSync(made)
  writeFileSync(join(open, 'plain-file'), 'text', { mode: 0o644 })
  writeFileSync(join(open, 'both'), 'text', { mode: 0o644 })
  writeFileSync(join(open, 'orphaned'), '#!/no/such/interpreter\n', { mode: 0o755 })
  writeFileSync(join(folder, 'later', 'both'), '#!/bin/sh\nexit 7\n', { mode: 0o755 })
  mkdirSync(join(open, 'a-folder'))
  chmodSync(closed, 0o000)
  path = [closed, open, join(folder, 'later')].join(':')
})
afterAll(() => {
  chmodSync(join(folder, 'closed'), 0o700)
  rmSync(folder, { recursive: true, force: true })
})

/** What the system reports for an unknown name when one folder on PATH may not be entered. */
const denied = () => Object.assign(new Error('spawn EACCES'), { code: 'EACCES' })

describe('a program that could not be started', () => {
  test.each([
    ['no-such-program', 'ENOENT', 'There is no program "no-such-program".'],
    ['./no-such-program', 'ENOENT', 'There is no program "./no-such-program".'],
    ['plain-file', 'EACCES', '"plain-file" is not executable.'],
    ['a-folder', 'EACCES', '"a-folder" is not executable.'],
    ['open/plain-file', 'EACCES', '"open/plain-file" is not executable.'],
  ])('%s is looked up before its permissions are blamed', async (command, code, message) => {
    expect(await spawnErrorOf(denied(), command, folder, path)).toEqual({ code, message })
  })

  test('is not called missing when only its interpreter is', async () => {
    const env = { PATH: path }
    const spec = { command: 'orphaned', args: [], cwd: folder, env, stdin: '', timeoutMs: 0, graceMs: 0 }
    const { spawnError } = await runChild({ ...spec, runId: freshRunId() }, {}, () => undefined, never)
    expect(spawnError?.message).toBe('"orphaned" exists, but it or its interpreter cannot be executed.')
  })

  test.skipIf(process.getuid?.() === 0)('reports that a folder on its path may not be entered', async () => {
    expect(await spawnErrorOf(denied(), 'closed/program', folder, path)).toEqual({
      code: 'EACCES',
      message: '"closed/program" is in a folder that Baton cannot enter.',
    })
  })
})

describe('looking up a program', () => {
  test.each([
    ['no-such-program', false, 'There is no program no-such-program on PATH.'],
    ['plain-file', false, 'open/plain-file is not executable.'],
    // A file that is no program does not hide one that is.
    ['both', true, 'later/both can be started.'],
  ])('%s', async (command, ok, detail) => {
    const check = await programCheck(command, folder, { PATH: path })
    expect(check).toMatchObject({ ok, detail: expect.stringContaining(detail) })
  })
})
