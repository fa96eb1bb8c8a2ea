import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { StoreUnavailable } from '../../src/kernel/store/store.ts'
import { Refused } from '../../src/pure/errors.ts'
import type { Claim } from '../../src/queue/types.ts'
import { WorkLoop } from '../../src/queue/work-loop.ts'

/** What a work loop does when answers are lost or it is stopped in between, with a queue that the test controls. */

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const claimOf = (taskId: string) => ({ taskId, session: 'w', generation: 1, agent: 'w' }) as Claim
const lostAnswer = () => Promise.reject(new StoreUnavailable('The connection broke.'))

/** A queue that hands these tasks out one by one, and records what it is asked. */
function queueOf(...titles: string[]) {
  const asked: string[] = []
  const waiting = [...titles]
  const held = new Map<string, number>()
  const take = () => {
    const taskId = waiting.shift()
    if (taskId === undefined) return null
    held.set(taskId, 1)
    return claimOf(taskId)
  }
  const queue = {
    registerWorker: async () => void asked.push('register'),
    unregisterWorker: async () => void asked.push('unregister'),
    heartbeat: async () => ({ renewed: [...held].map(([taskId, generation]) => ({ taskId, generation })) }),
    async nextMany(_worker: string, _limit: number, { signal }: { signal?: AbortSignal }): Promise<Claim[]> {
      asked.push('next')
      const claim = take()
      if (claim) return [claim]
      await new Promise<void>((resolve) => signal!.addEventListener('abort', () => resolve()))
      return []
    },
    progress: async () => undefined,
    async submit({ taskId }: Claim): Promise<unknown> {
      asked.push(`submit ${taskId}`)
      return held.delete(taskId)
    },
    async submitAndNext({ taskId }: Claim): Promise<{ next: Claim | null }> {
      asked.push(`submit ${taskId} and next`)
      held.delete(taskId)
      return { next: take() }
    },
    fail: async ({ taskId }: Claim) => void asked.push(`fail ${taskId}`),
    async release({ taskId }: { taskId: string }) {
      asked.push(`release ${taskId}`)
      held.delete(taskId)
    },
  }
  return { queue, asked, held }
}

const settle = () => vi.advanceTimersByTimeAsync(0)
const secondsPass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1_000)

describe('a work loop', () => {
  test('asks for a task once, and gets the others with its results', async () => {
    const { queue, asked } = queueOf('a', 'b', 'c')
    const loop = await WorkLoop.start(queue, 'w', () => 'done', {})
    await settle()
    expect(asked).toEqual([
      'register',
      'next',
      'submit a and next',
      'submit b and next',
      'submit c and next',
      'next',
    ])
    await loop.stop()
  })

  test('asks for no task with the last result before it stops', async () => {
    const { queue, asked } = queueOf('a', 'b')
    let end: () => void = () => undefined
    const slow = new Promise<void>((resolve) => {
      end = resolve
    })
    const loop = await WorkLoop.start(queue, 'w', () => slow, {})
    const stopping = loop.stop()
    end()
    await stopping
    expect(asked).toEqual(['register', 'next', 'submit a', 'unregister'])
  })

  test('does the task that comes with a result while it stops, and no other', async () => {
    const { queue, asked } = queueOf('a', 'b', 'c')
    const submitAndNext = queue.submitAndNext
    let stopped: Promise<void> | undefined
    queue.submitAndNext = async (claim) => {
      stopped ??= loop.stop()
      return submitAndNext(claim)
    }
    const done: string[] = []
    const loop = await WorkLoop.start(queue, 'w', ({ taskId }) => void done.push(taskId), {})
    await settle()
    await stopped
    expect(done).toEqual(['a', 'b'])
    expect(asked.slice(-3)).toEqual(['submit a and next', 'submit b', 'unregister'])
  })

  test('repeats a result whose answer was lost without asking for a second task', async () => {
    const { queue, asked } = queueOf('a', 'b')
    const { submitAndNext } = queue
    queue.submitAndNext = (claim) =>
      claim.taskId === 'a' ? submitAndNext(claim).then(lostAnswer) : submitAndNext(claim)
    const loop = await WorkLoop.start(queue, 'w', () => 'done', {})
    await secondsPass(1)
    expect(asked.slice(1)).toEqual(['next', 'submit a and next', 'submit a', 'next'])
    await loop.stop()
  })

  test('registers again when its worker is gone, and continues', async () => {
    const { queue, asked } = queueOf('a', 'b')
    const nextMany = queue.nextMany
    let isGone = true
    queue.nextMany = async (...given) => {
      if (asked.length < 2 || !isGone) return nextMany(...given)
      isGone = false
      throw new Refused('WORKER_GONE', 'Its heartbeats stopped.')
    }
    queue.submitAndNext = async ({ taskId }) => {
      asked.push(`submit ${taskId} and next`)
      return { next: null }
    }
    const loop = await WorkLoop.start(queue, 'w', () => 'done', {})
    await settle()
    expect(asked.slice(2, 6)).toEqual(['submit a and next', 'register', 'next', 'submit b and next'])
    await loop.stop()
  })

  test('releases a claim whose answer was lost, once it is sure that no answer comes', async () => {
    const { queue, asked, held } = queueOf('a')
    const submitAndNext = queue.submitAndNext
    let isLost = true
    queue.submitAndNext = async (claim) => {
      if (!isLost) return submitAndNext(claim)
      isLost = false
      held.set('orphan', 1)
      return lostAnswer()
    }
    const loop = await WorkLoop.start(queue, 'w', () => 'done', { heartbeatSeconds: 10 })
    await secondsPass(5)
    expect(asked, 'the first heartbeat may have overtaken the answer').not.toContain('release orphan')
    await secondsPass(5)
    expect(asked).toContain('release orphan')
    await loop.stop()
  })

  test('leaves claims alone that it does not know, as long as it has lost no answer', async () => {
    const { queue, asked, held } = queueOf('a')
    held.set('of another process', 1)
    const loop = await WorkLoop.start(queue, 'w', () => 'done', { heartbeatSeconds: 10 })
    await secondsPass(30)
    expect(asked.filter((one) => one.startsWith('release'))).toEqual([])
    await loop.stop()
  })

  test('never releases what it works on', async () => {
    const { queue, asked } = queueOf('a', 'b')
    queue.submitAndNext = async () => lostAnswer()
    let end: () => void = () => undefined
    const slow = new Promise<void>((resolve) => {
      end = resolve
    })
    const loop = await WorkLoop.start(queue, 'w', ({ taskId }) => (taskId === 'b' ? slow : null), {
      heartbeatSeconds: 10,
    })
    await secondsPass(40)
    expect(asked.filter((one) => one.startsWith('release'))).toEqual([])
    end()
    await loop.stop()
  })
})
