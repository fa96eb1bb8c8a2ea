import { spawn } from 'node:child_process'
import { expect } from 'vitest'
import { compiledFile } from './launched.ts'
import { beginLog, type LogsUnderTest } from './log-stores.ts'

const WRITER = compiledFile('test/support/processes/log-writer.ts')

/** A log that is larger than the memory it may use is written, finished and read. */
export async function expectLargeLog(it: LogsUnderTest, megabytes: number): Promise<void> {
  const handle = await beginLog(it)
  const words = ['megabytes', it.place, handle, megabytes].map((word) => JSON.stringify(word))
  const child = spawn(process.execPath, ['--expose-gc', WRITER, ...words], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  for await (const piece of child.stdout.setEncoding('utf8')) said += piece
  const { bytes, characters, grown } = JSON.parse(said)
  expect(bytes).toBe(megabytes * 1024 * 1024)
  expect(characters).toBe(bytes)
  expect(grown / 1024 / 1024).toBeLessThan(64)
  // In the middle of it, a page still has its size.
  const page = await it.logs.read(handle, { offset: bytes - 65_536, limitBytes: 100 })
  expect(page).toMatchObject({
    nextOffset: bytes - 65_436,
    spans: [{ offset: bytes - 65_536, bytes: 100 }],
  })
  await it.logs.delete(handle)
}
