import { beforeAll, expect } from 'vitest'
import { until } from './nodes.ts'
import { type Answer, type ServerUnderTest, startServer } from './server.ts'

export type Json = Record<string, unknown>
export type Task = { id: string }
type Headers = Record<string, string>
interface Event {
  type: string
  taskId: string | null
  actor: string
  actorName: string | null
  payload: Json
  at: string
}

/** A key, as it is named in the log. */
export const KEY = /^key:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const fence = (session: string, generation: number) => ({ session, generation })
export const inOneHour = () => new Date(Date.now() + 3_600_000).toISOString()

/** A new workspace on the server, and a client of it. */
export async function openWorkspace(server: Pick<ServerUnderTest, 'call'>, limits?: Json) {
  const made = await server.call('POST', '/workspaces', { name: 'a team' })
  const ownerKey: string = made.body.ownerKey
  const call = (method: string, path: string, body?: unknown, headers: Headers = {}) =>
    server.call(method, path, body, { key: ownerKey, headers })
  const post = (path: string, body: unknown = {}, headers?: Headers) => call('POST', path, body, headers)
  /** As whoever runs the server, who may also widen them. */
  const setLimits = (wanted: Json, headers: Headers = {}) =>
    server.call('PATCH', `/workspaces/${made.body.id}/limits`, wanted, { headers })
  if (limits) expect((await setLimits(limits)).status).toBe(200)
  const make = async (more: Json = {}) => (await post('/tasks', { title: 'Fix login', ...more })).body
  const on = (task: Task, act: string, body?: Json, headers?: Headers) =>
    post(`/tasks/${task.id}/${act}`, body, headers)
  const claim = (task: Task, agent = 'alpha', more: Json = {}) =>
    on(task, 'claim', { agent, session: `s-${agent}`, ...more })
  const read = async (task: Task, what = '') => (await call('GET', `/tasks/${task.id}${what}`)).body
  const next = async (more: Json = {}) =>
    (await post('/claims/next', { agent: 'alpha', session: 's-alpha', ...more })).body
  const reaches = (task: Task, state: string) => until(async () => (await read(task)).state === state)

  async function held(more: Json = {}) {
    const task = await make(more)
    expect((await claim(task)).body.reason).toBe('GRANTED')
    return task
  }
  /** A task that was claimed, and whose lease of a second has expired. Needs `minLeaseSeconds: 1`. */
  async function expired(more: Json = {}) {
    const task = await make(more)
    expect((await claim(task, 'alpha', { leaseSeconds: 1 })).body.reason).toBe('GRANTED')
    await until(async () => (await read(task)).holder === null)
    return task
  }
  /** How many events of a type the workspace has. */
  const count = async (type: string) =>
    (await events()).filter((event: { type: string }) => event.type === type).length
  const events = async (after = 0) => (await call('GET', `/events?limit=200&after=${after}`)).body.items
  /** Waits for so many events of a type, and returns them. */
  const happens = (type: string, times = 1): Promise<Event[]> =>
    until(async () => {
      const found = ((await events()) as Event[]).filter((event) => event.type === type)
      return found.length >= times && found
    })
  const id: string = made.body.id
  return {
    id,
    ownerKey,
    setLimits,
    call,
    post,
    make,
    on,
    claim,
    read,
    next,
    reaches,
    held,
    expired,
    count,
    events,
    happens,
  }
}
export type Workspace = Awaited<ReturnType<typeof openWorkspace>>

/** Shared by all files that run in this process. It ends with the process, and its data with the test run. */
let shared: Promise<ServerUnderTest> | undefined

/** A server that other files use, too, and new workspaces on it. */
export function useServer() {
  let server: ServerUnderTest
  beforeAll(async () => {
    shared ??= startServer()
    server = await shared
  })
  return { served: () => server, workspace: (limits?: Json) => openWorkspace(server, limits) }
}

/** Answers with a problem of this status and code, worded as RFC 9457 says. */
export function expectRefusal(answer: Answer, status: number, code: string, extra: Json = {}): void {
  expect(answer.body).toMatchObject({ status, code, type: `urn:baton:error:${code}`, ...extra })
  expect([typeof answer.body.title, typeof answer.body.detail]).toEqual(['string', 'string'])
  expect(answer.headers.get('content-type')).toContain('application/problem+json')
  expect(answer.status).toBe(status)
}

const first = fence('s-alpha', 1)
async function after(w: Workspace, task: Task, act: string, body?: Json): Promise<Task> {
  expect((await w.on(task, act, body)).status).toBe(200)
  return task
}
const failing = (failureClass: string) => async (w: Workspace) =>
  after(w, await w.held(), 'fail', { ...first, failureClass })

/** A task in each state that can be reached over HTTP; those that were ever held, by alpha at generation 1. */
export const inState = {
  pending: (w) => w.make({ runAt: inOneHour() }),
  queued: (w) => w.make(),
  awaiting_retry: failing('infrastructure'),
  assigned: (w) => w.held(),
  running: async (w) => after(w, await w.held(), 'start', first),
  continuing: async (w) => after(w, await w.held(), 'continue', first),
  awaiting_human: async (w) =>
    after(w, await w.held({ verification: { kind: 'human' } }), 'submit', { ...first, result: 1 }),
  paused: async (w) => after(w, await w.make(), 'pause'),
  budget_exceeded: failing('budget'),
  completed: async (w) => after(w, await w.held(), 'submit', { ...first, result: 1 }),
  failed: failing('invalid'),
  cancelled: async (w) => after(w, await w.make(), 'cancel'),
  skipped: failing('dependency'),
} satisfies Record<string, (w: Workspace) => Promise<Task>>
export type ReachableState = keyof typeof inState
