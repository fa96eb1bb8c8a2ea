import { describe, expect, test } from 'vitest'
import { storeKinds, useNodes } from '../../support/nodes.ts'
import { granted, type Hold, holder, outcome, type Task, type Work } from '../../support/tasks.ts'

/** A continuation is not another attempt: continuations have a count and a limit of their own, on every store. */

const alpha = holder('alpha')
const beta = holder('beta')

/** Requests a continuation and starts it. */
async function continueOnce(work: Work, task: Task, hold: Hold): Promise<string> {
  const said = outcome(await work.continueLater(task, hold))
  if (said === 'CONTINUING') expect(outcome(await work.start(task, hold))).toBe('STARTED')
  return said
}

describe.each(storeKinds)('on %s', (kind) => {
  const nodes = useNodes(kind)

  test('a task is continued up to its limit, seen from any node', async () => {
    const [here, there] = await nodes.pair()
    const task = await here.create({ maxContinuations: 2 })
    const hold = granted(await here.claim(task, alpha))
    expect(await continueOnce(here, task, hold)).toBe('CONTINUING')
    expect(await continueOnce(there, task, hold)).toBe('CONTINUING')
    expect(await continueOnce(there, task, hold)).toBe('CONTINUATION_LIMIT')
    expect(await there.record(task)).toMatchObject({ continuations: 2, maxContinuations: 2, attempt: 1 })
  })

  test('a task with the limit 0 is never continued', async () => {
    const work = await nodes.work()
    const task = await work.create({ maxContinuations: 0 })
    const hold = granted(await work.claim(task, alpha))
    expect(await continueOnce(work, task, hold)).toBe('CONTINUATION_LIMIT')
    expect(await work.record(task)).toMatchObject({ state: 'assigned', continuations: 0 })
  })

  test('the next claim has all continuations again', async () => {
    const work = await nodes.work()
    const task = await work.create({ maxContinuations: 1 })
    const first = granted(await work.claim(task, alpha))
    expect(await continueOnce(work, task, first)).toBe('CONTINUING')
    await work.release(task, first)
    const second = granted(await work.claim(task, beta))
    expect(await work.record(task)).toMatchObject({ generation: 2, continuations: 0 })
    expect(await continueOnce(work, task, second)).toBe('CONTINUING')
    expect(await continueOnce(work, task, second)).toBe('CONTINUATION_LIMIT')
  })

  test('the limit can be changed while the task is held', async () => {
    const work = await nodes.work()
    const task = await work.create({ maxContinuations: 1 })
    const hold = granted(await work.claim(task, alpha))
    await continueOnce(work, task, hold)
    await work.update(task, { maxContinuations: 2 })
    expect(await continueOnce(work, task, hold)).toBe('CONTINUING')
    await work.update(task, { maxContinuations: 0 })
    expect(await continueOnce(work, task, hold)).toBe('CONTINUATION_LIMIT')
  })
})
