import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { CommitWaiters } from '../../src/kernel/commit-waiters.ts'
import { MemoryStore } from '../../src/memory/store.ts'
import { Work } from '../support/tasks.ts'

/** Callers that wait for work. Here no notice of a commit arrives, unless `tell` sends one. */

const SECOND = 1_000
const HOUR = 3_600 * SECOND

class QuietStore extends MemoryStore {
  tell: Parameters<MemoryStore['onCommit']>[0] = () => undefined
  override onCommit(listener: typeof this.tell) {
    this.tell = listener
    return () => undefined
  }
}

beforeEach(
  () => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] }),
)
afterEach(() => void vi.useRealTimers())

function waiters() {
  const store = new QuietStore()
  store.addWorkspace(1, {})
  const looks = vi.spyOn(store, 'lastSeq')
  const waiting = new CommitWaiters(store, ({ tasksWaiting }) => tasksWaiting)
  /** A caller that waits again whenever it is woken. */
  const caller = () => {
    const woken = vi.fn()
    const wait = (): void =>
      void waiting.next(1, HOUR, new AbortController().signal).then(() => {
        woken()
        if (!waiting.isClosed) wait()
      })
    wait()
    return woken
  }
  const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)
  return { store, looks, waiting, caller, pass, work: new Work(store, 1) }
}

test('however many callers wait, the log is looked at once a second, and they ask again only when it has grown', async () => {
  const { looks, caller, pass, work, waiting } = waiters()
  const callers = Array.from({ length: 50 }, caller)
  const timesWoken = () => [...new Set(callers.map((woken) => woken.mock.calls.length))]
  await pass(SECOND)
  expect(timesWoken(), 'it may have grown before the first look').toEqual([1])
  await pass(20 * SECOND)
  expect(looks).toHaveBeenCalledTimes(21)
  expect(timesWoken()).toEqual([1])
  await work.create()
  await pass(SECOND)
  expect(timesWoken(), 'no notice of the commit arrived').toEqual([2])
  waiting.close()
})

test('a commit without a notice, before the log is first looked at, is not missed', async () => {
  const { caller, pass, work, waiting } = waiters()
  const woken = caller()
  await work.create()
  await pass(SECOND)
  expect(woken).toHaveBeenCalledTimes(1)
  waiting.close()
})

test('a notice wakes callers at once', async () => {
  const { store, caller, pass, waiting } = waiters()
  const woken = caller()
  store.tell(1, { events: 1, tasksWaiting: true })
  await pass(0)
  expect(woken).toHaveBeenCalledTimes(1)
  waiting.close()
})

test('callers ask for themselves while the log cannot be read', async () => {
  const { looks, caller, pass, waiting } = waiters()
  const woken = caller()
  await pass(2 * SECOND)
  looks.mockRejectedValueOnce(new Error('unreachable'))
  await pass(SECOND)
  expect(woken).toHaveBeenCalledTimes(2)
  waiting.close()
})

test('the log is no longer looked at when nobody waits', async () => {
  const { looks, waiting, pass } = waiters()
  const gone = new AbortController()
  const wait = waiting.next(1, HOUR, gone.signal)
  await pass(SECOND)
  await wait
  await pass(10 * SECOND)
  expect(looks).toHaveBeenCalledTimes(1)
  expect(vi.getTimerCount()).toBe(0)
})
