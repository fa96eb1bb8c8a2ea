import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { afterEach, expect, test } from 'vitest'
import { useServer } from '../support/http-workspace.ts'
import { until } from '../support/nodes.ts'
import { portForServer } from '../support/servers/port.ts'

/** The receiver of docs/webhooks.md, run as it is written, takes what the request of that page asks for, and nothing forged. */

const { workspace } = useServer()
const page = readFileSync('docs/webhooks.md', 'utf8')
const [receiver] = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code!)
const [request] = [...page.matchAll(/-d '(.*?)'/gs)].map(([, body]) => body!)
const ended: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const end of ended.splice(0)) await end()
})

async function receiving(secret: string) {
  const port = await portForServer()
  const code = receiver!.replace('listen(3000)', `listen(${port}, '127.0.0.1', () => console.log('ready'))`)
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += chunk
  })
  ended.push(async () => {
    child.kill()
    await once(child, 'exit')
  })
  await until(async () => said.includes('ready'))
  return { url: `http://127.0.0.1:${port}/`, lines: () => said.split('\n').slice(1, -1) }
}

test('the receiver of docs/webhooks.md takes events, and refuses what nobody has signed', async () => {
  const w = await workspace()
  const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`
  const to = await receiving(secret)
  const body = { ...JSON.parse(request!), url: to.url, secret }
  expect((await w.post('/webhooks', body)).status).toBe(201)
  const task = await w.held()
  await w.on(task, 'fail', { session: 's-alpha', generation: 1, failureClass: 'invalid' })
  await until(async () => to.lines().length === 1)
  expect(to.lines()).toEqual([`task_failed ${task.id}`])
  expect((await fetch(to.url, { method: 'POST', body: '{}' })).status).toBe(401)
  expect(to.lines()).toHaveLength(1)
})
