import { expect, test } from 'vitest'
import { expectWholeDemo } from '../support/demo.ts'

const TIMES = 10

test(`the demonstration runs to its end ${TIMES} times in a row, and shows everything each time`, async () => {
  const seconds = []
  for (let n = 1; n <= TIMES; n++) seconds.push(await expectWholeDemo())
  console.log(`seconds: ${seconds.join(', ')}`)
  expect(seconds).toHaveLength(TIMES)
}, 3_600_000)
