import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import { fence } from './http-workspace.ts'
import { type Received, type Receiver, startReceiver } from './receivers.ts'
import { eventually, type Processes, type Served } from './recovery.ts'
import { callsTo } from './server.ts'

/** A receiver at its worst, two nodes that are killed, and what must be true of what has arrived. */

/** In the order of arrival: every fifth fails, some are slow, some break off, and some hang until the sender gives up. */
function atItsWorst(count: () => number) {
  const hanging = new Set<ServerResponse>()
  return {
    hanging,
    answer(_received: Received, response: ServerResponse) {
      const n = count()
      if (n % 97 === 0) return hanging.add(response)
      if (n % 23 === 0) return response.destroy()
      if (n % 5 === 0) return response.writeHead(n % 2 === 0 ? 500 : 404).end('no')
      if (n % 7 === 0) return sleep(100).then(() => response.end('slowly'))
      return response.end('ok')
    },
  }
}

interface Arrival {
  id: string
  entity: string
  seq: number
}

/** What has arrived, whatever was answered, also before a receiver was started again. */
const arrivalsIn = (receivers: readonly Receiver[]): Arrival[] =>
  receivers.flatMap(({ received }) =>
    received.map(({ id, body }) => ({
      ...{ id, seq: body.data.seq as number, entity: `${body.data.entityType}:${body.data.entityId}` },
    })),
  )

export function expectEachInOrder(arrivals: readonly Arrival[], wanted: readonly number[]): void {
  const ids = new Map<number, Set<string>>()
  for (const { seq, id } of arrivals) ids.set(seq, (ids.get(seq) ?? new Set()).add(id))
  expect(
    [...ids.keys()].sort((a, b) => a - b),
    'each event, and none that was not asked for',
  ).toEqual(wanted)
  for (const [seq, own] of ids) expect([...own], `event ${seq} has one id`).toHaveLength(1)
  expect(new Set([...ids.values()].map(([id]) => id)).size, 'no two have the same').toBe(ids.size)
  const last = new Map<string, number>()
  const seen = new Set<number>()
  for (const { entity, seq } of arrivals) {
    if (seen.has(seq)) continue
    seen.add(seq)
    expect(seq, `first arrivals about ${entity}`).toBeGreaterThan(last.get(entity) ?? 0)
    last.set(entity, seq)
  }
}

type Ending = 'kill' | 'stop' | 'freeze'

/** Two nodes; in each round the one that leads is killed, stopped, or frozen until the other one leads. */
export async function chaos(
  processes: Processes,
  endings: readonly Ending[],
  tasks: number,
): Promise<number> {
  const env = { BATON_WEBHOOK_ALLOW: '127.0.0.1' }
  const serve = (name: string) => processes.serve({ ...env, BATON_NODE_NAME: name })
  let [leading, other] = [await serve('one'), await serve('two')] as [Served, Served]
  const receivers: Receiver[] = []
  let count = 0
  const worst = atItsWorst(() => ++count)
  const restartReceiver = async () => {
    const before = receivers.at(-1)
    await before?.close()
    receivers.push(await startReceiver(worst.answer, before?.port))
  }
  await restartReceiver()
  const w = await processes.workspace(other.url)
  const hook = { url: receivers[0]!.url, events: ['task_created', 'task_assigned', 'task_completed'] }
  expect((await w.post('/webhooks', hook)).status).toBe(201)
  // What fails is tried again at once: here hours have no meaning.
  let isOver = false
  const hastening = (async () => {
    while (!isOver) {
      await processes.rows(
        `update webhook_deliveries set next_at = clock_timestamp() where state = 'retrying' and next_at > clock_timestamp()`,
      )
      await processes.rows(`update webhook_progress set next_at = clock_timestamp(), held_until = null
        where next_at > clock_timestamp()`)
      await sleep(200)
    }
  })()
  const leader = () =>
    processes.rows<{ pid: number; term: number }>(
      `select n.pid, l.term::int from leader_leases l join nodes n on n.node_id = l.node_id
        where l.ended_at is null and l.expires_at > clock_timestamp()`,
    )
  const leads = ({ child }: Served) =>
    eventually(async () => (await leader()).some(({ pid }) => pid === child.pid))
  const pairs = Math.ceil(tasks / (endings.length + 1))
  try {
    for (const ending of [...endings, null]) {
      if ((await leader())[0]?.pid === other.child.pid) [leading, other] = [other, leading]
      // Through the node that stays.
      const call = callsTo(`${other.url}/api/v1`, w.ownerKey)
      for (let n = 0; n < pairs; n++) {
        const task = (await call('POST', '/tasks', { title: 'Work' })).body
        const claim = { agent: 'alpha', session: 's-alpha' }
        expect((await call('POST', `/tasks/${task.id}/claim`, claim)).status).toBe(200)
        const result = { ...fence('s-alpha', 1), result: 1 }
        expect((await call('POST', `/tasks/${task.id}/submit`, result)).status).toBe(200)
        if (n === Math.floor(pairs / 2) && ending !== null) {
          if (ending === 'freeze') leading.child.kill('SIGSTOP')
          else leading.child.kill(ending === 'kill' ? 'SIGKILL' : 'SIGTERM')
          if (ending === 'kill') await restartReceiver()
        }
      }
      if (ending === null) continue
      await leads(other)
      if (ending === 'freeze') leading.child.kill('SIGCONT')
      else {
        await leading.ended
        leading = await serve('again')
      }
    }
    const asked = `select e.seq::int as seq from events e where e.workspace_id = $1 and e.type = any($2) order by e.seq`
    const wanted = (await processes.rows<{ seq: number }>(asked, [w.workspaceId, hook.events])).map(
      ({ seq }) => seq,
    )
    expect(wanted).toHaveLength(3 * pairs * (endings.length + 1))
    await eventually(async () => {
      const open = await processes.rows(`select from webhook_progress p where p.seq < p.told_seq
        union all select from webhook_deliveries where state <> 'delivered'`)
      return open.length === 0 && arrivalsIn(receivers).some(({ seq }) => seq === wanted.at(-1))
    })
    expectEachInOrder(arrivalsIn(receivers), wanted)
    return count
  } finally {
    isOver = true
    for (const response of worst.hanging) response.destroy()
    await receivers.at(-1)!.close()
    await hastening
  }
}
