import { createHmac } from 'node:crypto'
import { expect } from 'vitest'
import type { Json, Workspace } from './http-workspace.ts'
import { until } from './nodes.ts'
import type { Answer, ServerUnderTest } from './server.ts'

/** Hooks over HTTP, and what their senders send. */

export interface Hook {
  id: string
  path: string
  secret: string
}

export const A_TASK = { kind: 'task', title: 'Look at {{/issue/title}}', description: 'Say what it needs.' }

export async function makeHook(w: Workspace, more: Json = {}): Promise<Hook> {
  const made = await w.post('/hooks', { name: 'issues', scheme: 'github', does: A_TASK, ...more })
  expect(made.status).toBe(201)
  return made.body
}

export const GITHUB_EVENT = { action: 'opened', issue: { number: 12, title: 'Login fails' } }

export const hubSignature = (secret: string, body: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`

let sent = 0

/** As GitHub sends it: without a key. */
export function fromGitHub(
  server: Pick<ServerUnderTest, 'url'>,
  { id, secret }: Pick<Hook, 'id' | 'secret'>,
  payload: unknown = GITHUB_EVENT,
  headers: Record<string, string> = {},
) {
  const body = JSON.stringify(payload)
  return send(server, `/api/v1/hooks/${id}`, body, {
    'x-github-event': 'issues',
    'x-github-delivery': `00000000-0000-4000-8000-${String(++sent).padStart(12, '0')}`,
    'x-hub-signature-256': hubSignature(secret, body),
    ...headers,
  })
}

export async function send(
  server: Pick<ServerUnderTest, 'url'>,
  path: string,
  body: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const answer = await fetch(new URL(path, server.url), {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

/** What is refused is noted after its answer. */
export const notedOf = (w: Workspace, hook: Pick<Hook, 'id'>, times: number) =>
  until(async () => {
    const items = await deliveriesOf(w, hook)
    return items.length >= times && items
  })

export const deliveriesOf = async (w: Workspace, { id }: Pick<Hook, 'id'>) =>
  (await w.call('GET', `/hooks/${id}/deliveries`)).body.items
