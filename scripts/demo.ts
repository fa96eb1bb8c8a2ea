import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readConfig } from '../src/config.ts'
import type { EventType } from '../src/kinds/events.ts'
import { messageOf } from '../src/kinds/log.ts'
import { start } from '../src/start.ts'

/**
 * `npm run demo`: the demonstration from its start to its end, on a server of its own that leaves nothing behind. What it asks a
 * person is answered after five seconds.
 */

const ANSWER_AFTER_MS = 5_000
const LONGEST_MS = 300_000

type Json = Record<string, unknown>

const folder = mkdtempSync(join(tmpdir(), 'baton-demo-'))
const environment = { PATH: process.env.PATH, HOME: process.env.HOME, BATON_DATA: folder, BATON_PORT: '0' }
const baton = await start(readConfig(environment))
const key = readFileSync(join(folder, 'owner-key'), 'utf8').trim()
let isStopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.on(signal, () => {
    isStopping = true
  })

async function call(path: string, body?: Json): Promise<Json> {
  const answer = await fetch(`${baton.url}/api/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const said = (await answer.json()) as Json
  if (!answer.ok) throw new Error(`${path}: ${said.detail}`)
  return said
}

const began = performance.now()
const seconds = () => ((performance.now() - began) / 1000).toFixed(1).padStart(5)
const show = (what: string) => console.log(`${seconds()} s  ${what}`)

/** Shows what happened since `after`, and returns up to which event that is. */
async function follow(mission: string, titles: ReadonlyMap<unknown, string>, after: number): Promise<number> {
  const { items } = (await call(`/missions/${mission}/events?after=${after}&limit=200`)) as { items: Json[] }
  for (const { type, payload, taskId } of items) {
    if (QUIET.has(String(type))) continue
    const title = titles.get(taskId)
    const sentence = messageOf({ type: type as EventType, payload: payload as Json })
    show(`${title ? `${title}: ` : ''}${sentence}`)
  }
  return Number(items.at(-1)?.seq ?? after)
}

/** What would fill the screen. */
const QUIET = new Set([
  'task_created',
  'claim_renewed',
  'task_progress',
  'cost_snapshot',
  'run_status',
  'task_queued',
])

const waitingSince = new Map<string, number>()
async function answerForPerson(mission: string): Promise<void> {
  const { items } = (await call(`/inbox?mission=${mission}`)) as { items: Json[] }
  for (const { id, title, generation, digest, actions } of items) {
    const given = answerTo(actions as string[])
    const since = waitingSince.get(String(id)) ?? performance.now()
    waitingSince.set(String(id), since)
    if (!given || performance.now() - since < ANSWER_AFTER_MS) continue
    await call(`/inbox/${id}/answer`, { ...given, generation, ...(digest ? { digest } : {}) })
    show(`${title}: answered for you (${given.answer ?? 'approved'}).`)
  }
}

/** Null: it is no question and no approval. On a busy machine an alert may come, and go on its own. */
function answerTo(actions: readonly string[]): { decision: string; answer?: string } | null {
  if (actions.includes('answer')) return { decision: 'answer', answer: 'green' }
  return actions.includes('approve') ? { decision: 'approve' } : null
}

async function play(): Promise<number> {
  const { missionId: mission } = (await call('/demo', {})) as { missionId: string }
  const { items } = (await call(`/missions/${mission}/tasks?limit=200`)) as { items: Json[] }
  const titles = new Map(items.map(({ id, title }) => [id, String(title)]))
  let seen = 0
  while (!isStopping && performance.now() - began < LONGEST_MS) {
    seen = await follow(mission, titles, seen)
    const { state, stateType, tasksCompleted } = await call(`/missions/${mission}`)
    if (stateType === 'terminal') {
      await follow(mission, titles, seen)
      show(`The demonstration is ${state}: ${tasksCompleted} of ${items.length} tasks are done.`)
      return state === 'completed' ? 0 : 1
    }
    await answerForPerson(mission)
    await sleep(200)
  }
  console.error('The demonstration was stopped before its end.')
  return 1
}

try {
  process.exitCode = await play()
} finally {
  await baton.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
