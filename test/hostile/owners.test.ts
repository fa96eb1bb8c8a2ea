import { beforeAll, describe, expect, test } from 'vitest'
import { uuidCarrying } from '../../src/pure/ids.ts'
import { expectRefusal, useServer, type Workspace } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'

/** Owners of a workspace who want what is for those who run the server: the right `instance`. */

const { served, workspace } = useServer()
let w: Workspace
beforeAll(async () => {
  w = await workspace()
})

describe('the owner of another workspace', () => {
  test('does not see the nodes of the server', async () => {
    expectRefusal(await w.call('GET', '/nodes'), 403, 'FORBIDDEN')
    const status = await w.call('GET', '/coordinator/status')
    expect(status).toMatchObject({ status: 200, body: { nodes: [], terms: [] } })
    expect((await served().call('GET', '/nodes')).body.items.length).toBeGreaterThan(0)
    const { nodes } = await until(async () => {
      const own = (await served().call('GET', '/coordinator/status')).body
      return own.terms.length > 0 && own
    })
    expect(nodes.length).toBeGreaterThan(0)
  })

  const WIDER: [string, number][] = [
    ['minLeaseSeconds', 29],
    ['maxLeaseSeconds', 3_601],
    ['maxConcurrentClaims', 101],
    ['maxGenerationsPerTask', 101],
    ['maxResultBytes', 11 * 1_024 * 1_024],
    ['maxActiveSessions', 51],
    ['claimHistoryRetentionDays', 91],
  ]
  test.each(WIDER)('does not widen %s, also not together with something allowed', async (field, value) => {
    const own = await workspace()
    const before = (await own.call('GET', '/limits')).body
    const refused = await own.call('PATCH', '/limits', { [field]: value, queueOrder: 'shortest_first' })
    expectRefusal(refused, 403, 'FORBIDDEN')
    expect(refused.body.detail).toContain(field)
    expect((await own.call('GET', '/limits')).body).toEqual(before)
    expect(await own.count('limits_changed')).toBe(0)
  })

  test('narrows them, and chooses what is only about its own work', async () => {
    const own = await workspace()
    const changed = {
      maxConcurrentClaims: 99,
      minLeaseSeconds: 31,
      hangGraceSeconds: 86_400,
      lateResults: false,
    }
    expect(await own.call('PATCH', '/limits', changed)).toMatchObject({ status: 200, body: changed })
    expectRefusal(await own.call('PATCH', '/limits', { maxConcurrentClaims: 100 }), 403, 'FORBIDDEN')
  })

  test('has no say about other workspaces; those who run the server do, and an owner of theirs does not', async () => {
    const own = await workspace()
    const of = (id: string) => `/workspaces/${id}/limits`
    for (const id of [own.id, w.id])
      for (const method of ['GET', 'PATCH'])
        expectRefusal(
          await own.call(method, of(id), method === 'GET' ? undefined : { maxActiveSessions: 1 }),
          403,
          'FORBIDDEN',
        )
    const wide = { maxConcurrentClaims: 1_000 }
    expect(await served().call('PATCH', of(own.id), wide)).toMatchObject({ status: 200, body: wide })
    expect((await own.call('GET', '/limits')).body).toMatchObject(wide)
    expect((await served().call('GET', of(own.id))).body).toMatchObject({
      ...wide,
      usage: { activeClaims: 0 },
    })
    for (const id of [uuidCarrying(2 ** 40, Date.now(), 1), uuidCarrying(1, Date.now(), 1), 'nonsense'])
      expectRefusal(await served().call('PATCH', of(id), wide), 404, 'NOT_FOUND')
    const { key } = (await served().call('POST', '/keys', { name: 'second', role: 'owner' })).body
    expectRefusal(await served().call('PATCH', '/limits', wide, { key }), 403, 'FORBIDDEN')
    expectRefusal(await served().call('GET', '/nodes', undefined, { key }), 403, 'FORBIDDEN')
  })
})
