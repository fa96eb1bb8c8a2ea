import { expect, test } from 'vitest'
import { openKernel } from '../src/flow/open-kernel.ts'
import { followAll } from '../src/flow/unblock.ts'
import { MemoryStore } from '../src/store/memory/store.ts'
import { StoreUnavailable } from '../src/store/store.ts'

/** What waits for finished tasks is looked at after everybody was answered: nobody is there to be told what goes wrong. */

/** What is told when looking at it goes wrong in this way. */
async function toldOf(error: Error): Promise<unknown[]> {
  const store = new MemoryStore()
  store.downstreamOf = () => Promise.reject(error)
  const told: unknown[] = []
  const nobody = () => Promise.reject(new Error('nobody is asked for'))
  const kernel = openKernel(store, { agentOf: nobody, projectOf: nobody }, (fault) => told.push(fault))
  await followAll(kernel, 1, [1])
  await kernel.close()
  return told
}

test('a store that is away is nothing to tell of: upkeep finds what was forgotten', async () => {
  expect(await toldOf(new StoreUnavailable('away'))).toEqual([])
})

test('anything else is told, and stops nobody', async () => {
  const mistake = new TypeError('records is not iterable')
  expect(await toldOf(mistake)).toEqual([mistake])
})
