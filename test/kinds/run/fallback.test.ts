import { describe, expect, test } from 'vitest'
import { endWaitOn, planned } from '../../support/planned.ts'
import { type Fleet, type Seen, useFleets } from '../../support/runs.ts'

/** A fallback model is used after a rate limit or a result that was not good enough: with programs that are really run. */

const { served, fleet } = useFleets()

const modelsOf = (calls: readonly Seen[]) =>
  calls.map(({ args }) => (args.includes('--model') ? args[args.indexOf('--model') + 1] : null))
const fallbacks = async (w: Fleet) =>
  (await w.happens('model_fallback')).map(({ payload: { from, to, reason } }) => ({ from, to, reason }))

describe('a fallback model is used', () => {
  test('after a rate limit, at once: the task does not wait, and its agent does not rest', async () => {
    const w = await fleet()
    const dev = await w.claude('dev', 'http429,success')
    const config = { models: { default: 'opus', fallback: ['sonnet', 'haiku'] } }
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev' }], config)
    expect(await w.taskIn(task, 'completed')).toMatchObject({ attempt: 1 })
    expect(modelsOf(dev.calls())).toEqual(['opus', 'sonnet'])
    expect(await fallbacks(w)).toEqual([{ from: 'opus', to: 'sonnet', reason: 'rate_limited' }])
    expect((await w.happens('credential_parked'))[0]!.payload).toMatchObject({ model: 'opus' })
    // The next task does not even try what is known to be limited.
    const [next] = await planned(w, [{ tempId: 'a', agent: 'dev' }], config)
    await w.taskIn(next, 'completed')
    expect(modelsOf(dev.calls()).at(-1)).toBe('sonnet')
  })

  test('and when all are rate limited, the account rests until the limit ends', async () => {
    const w = await fleet()
    const dev = await w.claude('dev', 'http429')
    const config = { models: { default: 'opus', fallback: ['sonnet'] } }
    const [task] = await planned(w, [{ tempId: 'a', agent: 'dev' }], config)
    await w.over('dev', 2)
    const { dueAt } = await w.taskIn(task, 'awaiting_retry')
    expect(Date.parse(dueAt) - Date.now()).toBeGreaterThan(1_000_000)
    expect(modelsOf(dev.calls())).toEqual(['opus', 'sonnet'])
  })

  test('after a rejection, from the settings of the agent if the mission names none', async () => {
    const w = await fleet()
    const more = { config: { model: 'opus' }, runtimeConfig: { fallbackModels: ['sonnet'] } }
    const dev = await w.claude('dev', '', more)
    const task = await w.assign('dev', { verification: { kind: 'human' } })
    for (let turn = 0; turn < 3; turn++) {
      await w.taskIn(task, 'awaiting_human')
      expect(await w.on(task, 'reject', { comment: 'Not yet' })).toMatchObject({ status: 200 })
      await endWaitOn(served(), task)
    }
    await w.over('dev', 4)
    expect(modelsOf(dev.calls())).toEqual(['opus', 'sonnet', 'opus', 'sonnet'])
    expect(await fallbacks(w)).toEqual([
      { from: 'opus', to: 'sonnet', reason: 'quality' },
      { from: 'sonnet', to: 'opus', reason: 'quality' },
      { from: 'opus', to: 'sonnet', reason: 'quality' },
    ])
  })

  test('or another agent, where the mission says so', async () => {
    const w = await fleet()
    const agents = [await w.claude('one'), await w.claude('two')]
    const plan = [{ tempId: 'a', verification: { kind: 'human' } }]
    const [task] = await planned(w, plan, { anotherModelOnRetry: true })
    await w.taskIn(task, 'awaiting_human')
    expect(await w.on(task, 'reject', { comment: 'Not yet' })).toMatchObject({ status: 200 })
    await endWaitOn(served(), task)
    await w.happens('task_human_review_requested', 2)
    expect(agents.map(({ calls }) => calls().length)).toEqual([1, 1])
  })
})
