import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { expect, onTestFinished, test } from 'vitest'
import { expectWholeDemo } from '../support/demo.ts'

const TIMES = 10
const LONG = { timeout: 3_600_000 }

async function expectTheDemoOften(): Promise<void> {
  const seconds = []
  for (let n = 1; n <= TIMES; n++) seconds.push(await expectWholeDemo())
  console.log(`seconds: ${seconds.join(', ')}`)
  expect(seconds).toHaveLength(TIMES)
}

test(`the demonstration runs to its end ${TIMES} times in a row, and shows everything each time`, LONG, () =>
  expectTheDemoOften(),
)

test('and so it does beside a program on each core that never rests', LONG, async () => {
  const busy = Array.from({ length: availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
  onTestFinished(() => {
    for (const child of busy) child.kill('SIGKILL')
  })
  await expectTheDemoOften()
  expect(busy.map(({ exitCode }) => exitCode)).toEqual(busy.map(() => null))
})
