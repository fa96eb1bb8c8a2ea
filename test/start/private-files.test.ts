import { chmod, chown, lchown, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { refuseUnsafeData } from '../../src/private-files.ts'
import { StartRefused } from '../../src/pure/refusal.ts'
import { start } from '../../src/start.ts'

const self = process.geteuid!()
const OTHER_USER = 54_321
const ELSE = 'or choose another folder with BATON_DATA'

let place = ''
let folder = ''
let key = ''
beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'baton-private-'))
  folder = join(place, 'data')
  key = join(folder, 'owner-key')
  await mkdir(folder, { mode: 0o700 })
})
afterEach(() => rm(place, { recursive: true, force: true }))

const refusal = (path: string, as = self) =>
  refuseUnsafeData(path, as).then(
    () => null,
    (error) => {
      expect(error).toBeInstanceOf(StartRefused)
      return error.message
    },
  )

describe('a data folder', () => {
  test.each([0o775, 0o757, 0o777, 0o1777, 0o720, 0o702])(
    'that others can write to (%o) is refused, with its mode and the remedy',
    async (mode) => {
      await chmod(folder, mode)
      const shown = mode.toString(8).padStart(4, '0')
      expect(await refusal(folder)).toBe(
        `The data folder ${folder} can be written by other users (mode ${shown}); run "chmod go-w ${folder}", ${ELSE}.`,
      )
    },
  )

  test.each([0o700, 0o711, 0o750, 0o755])('that others can at most read (%o) is accepted', async (mode) => {
    await chmod(folder, mode)
    expect(await refusal(folder)).toBe(null)
  })

  test('that belongs to another user is refused, even if it is private', async () => {
    // For the user of this test it is their own: Baton runs as another.
    const owner = self === 0 ? OTHER_USER : self
    await chown(folder, owner, -1)
    expect(await refusal(folder, OTHER_USER + 1)).toBe(
      `The data folder ${folder} belongs to user ${owner}, and Baton runs as user ${OTHER_USER + 1}; start Baton as user ${owner}, or run "chown ${OTHER_USER + 1} ${folder}", ${ELSE}.`,
    )
  })

  test('that belongs to root is no reason for refusal', async () => {
    expect(await refusal('/usr', OTHER_USER)).toBe(null)
  })

  test('is judged where a link to it points, and so is the link', async () => {
    const link = join(place, 'link')
    await symlink(folder, link)
    expect(await refusal(link)).toBe(null)
    await chmod(folder, 0o777)
    expect(await refusal(link)).toContain(`The data folder ${link} can be written by other users`)
    await chmod(folder, 0o700)
    const owner = self === 0 ? OTHER_USER : self
    await lchown(link, owner, -1)
    expect(await refusal(link, OTHER_USER + 1)).toContain(
      `${link} is a link that belongs to user ${owner}, and Baton runs as user ${OTHER_USER + 1}`,
    )
  })

  test('is quoted so that the remedy can be pasted', async () => {
    const odd = join(place, "it's mine")
    await mkdir(odd)
    await chmod(odd, 0o777)
    expect(await refusal(odd)).toContain(`run "chmod go-w '${join(place, "it'\\''s mine")}'"`)
  })
})

describe('an owner key', () => {
  const SECRET = `baton_${'x'.repeat(43)}\n`

  test.each([0o644, 0o640, 0o604, 0o660, 0o602, 0o610])(
    'that others can use (%o) is refused',
    async (mode) => {
      await writeFile(key, SECRET)
      await chmod(key, mode)
      expect(await refusal(folder)).toBe(
        `The owner key ${key} can be used by other users (mode 0${mode.toString(8)}); run "chmod 600 ${key}", and replace the key if another user may have read it.`,
      )
    },
  )

  test.each([0o600, 0o400])('that only its owner can use (%o) is accepted', async (mode) => {
    await writeFile(key, SECRET)
    await chmod(key, mode)
    expect(await refusal(folder)).toBe(null)
  })

  test.runIf(self === 0)('that belongs to another user is refused', async () => {
    await writeFile(key, SECRET, { mode: 0o600 })
    await chown(key, OTHER_USER, OTHER_USER)
    expect(await refusal(folder)).toContain(
      `The owner key ${key} belongs to user ${OTHER_USER}, and Baton runs as`,
    )
  })

  test('behind a link is judged by the link’s target', async () => {
    const elsewhere = join(place, 'elsewhere')
    await writeFile(elsewhere, SECRET)
    await chmod(elsewhere, 0o644)
    await symlink(elsewhere, key)
    expect(await refusal(folder)).toContain(`The owner key ${key} can be used by other users (mode 0644)`)
  })
})

describe('a start', () => {
  const starting = () =>
    start(
      readConfig({
        BATON_DATA: folder,
        BATON_PORT: '0',
        // No server listens there, and none is contacted before the folder is checked.
        DATABASE_URL: 'postgres://127.0.0.1:1/none',
        BATON_LOG_LEVEL: 'silent',
      }),
    )

  test('on a folder that others can write to is refused before anything is done', async () => {
    await chmod(folder, 0o775)
    await expect(starting()).rejects.toThrow(`The data folder ${folder} can be written by other users`)
    expect(await readdir(folder)).toEqual([])
  })

  test('with an owner key that others can read is refused', async () => {
    await writeFile(key, 'baton_x')
    await chmod(key, 0o644)
    await expect(starting()).rejects.toThrow(`The owner key ${key} can be used by other users`)
  })

  test.runIf(self === 0)('as root on a folder of another user is refused', async () => {
    await chown(folder, OTHER_USER, OTHER_USER)
    await expect(starting()).rejects.toThrow(
      `The data folder ${folder} belongs to user ${OTHER_USER}, and Baton runs as user 0`,
    )
  })
})
