import { expect, test } from 'vitest'
import { useServer } from '../../support/http-workspace.ts'

/** Budgets as they are listed. */

const { workspace } = useServer()

test('budgets are listed by scope, those of few things first, page by page', async () => {
  const w = await workspace()
  await w.post('/projects', { slug: 'shop', name: 'Shop' })
  await w.call('PUT', '/agents/dev-1', { adapterType: 'external' })
  for (let task = 0; task < 3; task++) await w.make({ budget: { maxTokens: 1_000 } })
  const set = async (budget: object) => expect((await w.post('/budgets', budget)).status).toBe(201)
  await set({ scope: 'agent', scopeId: 'dev-1', maxTokens: 9 })
  await set({ scope: 'project', scopeId: 'shop', maxUsd: '1' })
  await set({ scope: 'workspace', period: 'week', maxUsd: '1' })
  await set({ scope: 'workspace', period: 'day', maxUsd: '1' })
  const scopes: string[] = []
  const ids = new Set<string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body } = await w.call('GET', `/budgets?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
    for (const { scope, id } of body.items) {
      scopes.push(scope)
      ids.add(id)
    }
    cursor = body.nextCursor
  }
  expect(scopes).toEqual(['workspace', 'workspace', 'project', 'agent', 'task', 'task', 'task'])
  expect(ids.size).toBe(7)
})
