import { describe, expect, test } from 'vitest'
import { watchOf } from '../../../src/kernel/store/watch-column.ts'
import { chooseModel, modelsInTurn } from '../../../src/kinds/run/rules/models.ts'
import { assign } from '../../support/assign.ts'
import { manualClock } from '../../support/manual-clock.ts'
import { granted, holder, outcome } from '../../support/tasks.ts'

/** Another model, or another agent, after a rate limit or work that was not good enough. */

const alpha = holder('alpha')
const beta = holder('beta')

describe('the models of a task', () => {
  test('are its own, then those of its mission, or else those of its agent, each once', () => {
    expect(modelsInTurn('opus', ['sonnet', 'opus'], ['haiku'])).toEqual(['opus', 'sonnet'])
    expect(modelsInTurn(null, [], ['haiku'])).toEqual([null, 'haiku'])
    expect(modelsInTurn('opus', [], [])).toEqual(['opus'])
  })

  test('take turns, and one that is known to be rate limited is left out', () => {
    const models = ['a', 'b', 'c']
    const all = () => true
    const at = (switches: number, used?: string) => chooseModel(models, { switches, used }, all)
    expect(at(0)).toMatchObject({ model: 'a', fallback: null })
    expect(at(1)).toMatchObject({ model: 'b', fallback: { from: 'a', to: 'b' } })
    expect(at(1, 'b')).toMatchObject({ model: 'b', fallback: null })
    expect(at(3, 'c')).toMatchObject({ model: 'a', fallback: { from: 'c', to: 'a' } })
    const without = (...gone: string[]) =>
      chooseModel(models, { switches: 1, used: undefined }, (model) => !gone.includes(model!)).model
    expect(without('b')).toBe('c')
    expect(without('b', 'c')).toBe('a')
    expect(without('a', 'b', 'c')).toBe('b')
  })
})

describe('another model is due', () => {
  test('after a quality failure and after a rate limit, not after a crash', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ maxRetries: 9 })
    const switches = async () => (await work.record(task)).modelUse?.modelSwitches
    const fails = async (failureClass: 'quality' | 'rate_limited' | 'infrastructure') => {
      pass(3_600_000)
      await work.fail(task, granted(await work.claim(task, alpha)), failureClass)
    }
    await fails('infrastructure')
    expect(await switches()).toBeUndefined()
    await fails('quality')
    await fails('rate_limited')
    expect(await switches()).toBe(2)
    pass(3_600_000)
    granted(await work.claim(task, alpha))
    expect(await switches()).toBe(2)
  })

  test('after a rejection; a person who retries or resets the task begins with its own', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ verification: 'human' })
    const rejected = async () => {
      pass(3_600_000)
      await work.submit(task, granted(await work.claim(task, alpha)))
      await work.reject(task, 'no')
      return watchOf(await work.record(task))
    }
    expect(await rejected()).toEqual({ modelSwitches: 1 })
    expect(await rejected()).toEqual({ modelSwitches: 2 })
    await work.retry(task)
    expect(watchOf(await work.record(task))).toBeNull()
    expect(await rejected()).toEqual({ modelSwitches: 1 })
    await work.cancel(task)
    await work.reset(task)
    // A reset starts over: nothing of the three generations is taken over.
    expect(watchOf(await work.record(task))).toEqual({ freshFrom: 4 })
  })

  test('and is said once, by the holder alone', async () => {
    const { work } = manualClock()
    const task = await work.create()
    const { session, generation } = granted(await work.claim(task, alpha))
    const says = (at: number) =>
      work.command(task, {
        ...{ kind: 'useModel', fence: { session, generation: at } },
        ...{ from: 'opus', to: 'haiku', reason: 'quality' },
      })
    expect(outcome(await says(generation))).toBe('NOTED')
    expect(outcome(await says(generation))).toBe('NOTED')
    expect(outcome(await says(generation + 1))).toBe('FUTURE_GENERATION')
    const said = (await work.eventsOf(task)).filter(({ type }) => type === 'model_fallback')
    expect(said).toMatchObject([
      { payload: { from: 'opus', to: 'haiku', reason: 'quality', agent: 'alpha' } },
    ])
  })
})

describe('with another agent on retry', () => {
  const agentChoice = { otherAgentOnRetry: true }

  test('the coordinator lets others go first for ten minutes, then anybody', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ agentChoice })
    await work.fail(task, granted(await work.claim(task, alpha)), 'quality')
    pass(60_000)
    await work.elapse(task)
    expect(outcome(await assign(work, task, alpha))).toBe('NOT_READY')
    expect(outcome(await assign(work, task, beta))).toBe('GRANTED')
    const other = await work.create({ agentChoice })
    await work.fail(other, granted(await work.claim(other, alpha)), 'quality')
    pass(60_000)
    await work.elapse(other)
    pass(600_000)
    expect(outcome(await assign(work, other, alpha))).toBe('GRANTED')
  })

  test('a task that is reserved for its agent goes to it', async () => {
    const { work, pass } = manualClock()
    const task = await work.create({ agentChoice, onlyAgent: 'alpha' })
    await work.fail(task, granted(await work.claim(task, alpha)), 'quality')
    pass(60_000)
    await work.elapse(task)
    expect(outcome(await assign(work, task, alpha))).toBe('GRANTED')
  })
})
