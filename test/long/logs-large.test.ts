import { onTestFinished, test } from 'vitest'
import { expectLargeLog } from '../support/large-log.ts'
import { openLogStore } from '../support/log-stores.ts'

test.each([
  ['local_file', 160],
  ['object_store', 160],
  ['postgres', 16],
] as const)(
  'in %s, a log that is larger than the memory it may use is written, finished and read',
  async (kind, megabytes) => {
    const it = await openLogStore[kind]()
    onTestFinished(() => it.close())
    await expectLargeLog(it, megabytes)
  },
)
