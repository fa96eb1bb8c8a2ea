import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { httpAdapter } from '../../src/adapters/http.ts'
import { processAdapter } from '../../src/adapters/process.ts'
import { simulatedAdapter } from '../../src/adapters/simulated.ts'
import { adapterConformance } from '../support/adapter-conformance.ts'
import { CallbacksInMemory } from '../support/callbacks.ts'

const shell = (script: string) => ({ adapterConfig: { command: 'sh', args: ['-c', script], graceSec: 5 } })
const LAST_LINE = '{"result":{"made":1},"usage":{"inputTokens":5,"outputTokens":6}}'

adapterConformance('process', {
  adapter: processAdapter,
  succeeds: () => shell(`cat; echo '{"baton":"status","message":"hi"}'; echo '${LAST_LINE}'`),
  fails: () => shell('echo no >&2; exit 3'),
  lasts: () => shell('setsid sleep 1000 & sleep 1000'),
  badConfigs: [
    [{}, 'command is missing'],
    [{ command: '' }, 'command'],
    [{ command: 5 }, 'command must be a string'],
    [{ command: '--version' }, 'command must not begin with a dash'],
    [{ command: 'a\0b' }, 'command'],
    [{ command: 'sh', args: 'x' }, 'args must be a list'],
    [{ command: 'sh', args: ['x', 5] }, 'args[1] must be a string'],
    [{ command: 'sh', model: 'm' }, 'model is not a setting of process'],
    [{ command: 'sh', env: { BATON_URL: 'x' } }, 'env.BATON_URL cannot be set'],
    [{ command: 'sh', env: { 'A=B': 'x' } }, 'env.A=B is not a valid variable name'],
    [{ command: 'sh', env: { A: 5 } }, 'env.A must be a string'],
    [{ command: 'sh', secretEnv: 'A' }, 'secretEnv must be a list'],
    [
      { command: 'sh', env: { A: 'x' }, secretEnv: ['A', 'B'] },
      'secretEnv[1] names B, which env does not have',
    ],
    [{ command: 'sh', secretEnv: ['toString'] }, 'secretEnv[0] names toString'],
    [{ command: 'sh', timeoutSec: 0 }, 'timeoutSec must not be less than 1'],
    [{ command: 'sh', timeoutSec: 1.5 }, 'timeoutSec must be a whole number'],
    [{ command: 'sh', graceSec: 601 }, 'graceSec must not be more than 600'],
    [{ command: 'sh', workspace: 'moon' }, 'workspace must be one of cwd, git_worktree'],
    [{ command: 'sh', baseBranch: '--force' }, 'baseBranch must not begin with a dash'],
    [{ command: 'sh', cleanup: true }, 'cleanup must be one of never, when_clean'],
  ],
})

const script = (...steps: unknown[]) => ({ adapterConfig: { steps } })

adapterConformance('simulated', {
  adapter: simulatedAdapter,
  succeeds: () =>
    script(
      { say: 'hi' },
      { usage: { inputTokens: 5, outputTokens: 6 } },
      { result: { made: 1 }, summary: 'ok' },
    ),
  fails: () => script({ status: 'tries', color: 'yellow' }, { fail: { code: 'api_error', message: 'No.' } }),
  lasts: () => script({ status: 'waits' }, { waitMs: 1_000_000 }, { result: 1 }),
  badConfigs: [
    [{}, 'steps is missing'],
    [{ steps: {} }, 'steps must be a list'],
    [{ steps: [{}] }, 'steps[0]'],
    [{ steps: [{ say: 5 }] }, 'steps[0].say must be a string'],
    [{ steps: [{ say: 'a' }, { say: 'b', loud: true }] }, 'steps[1].loud is not a setting of simulated'],
    [{ steps: [{ progress: 101 }] }, 'steps[0].progress must not be more than 100'],
    [{ steps: [{ waitMs: -1 }] }, 'steps[0].waitMs'],
    [{ steps: [{ fail: { code: 'boredom' } }] }, 'steps[0].fail.code must be one of'],
    [{ steps: [{ usage: { inputTokens: -1, outputTokens: 1 } }] }, 'steps[0].usage.inputTokens'],
    [{ steps: [], repeat: 0 }, 'repeat must not be less than 1'],
    [{ steps: [], command: 'sh' }, 'command is not a setting of simulated'],
  ],
})

let server: Server
let asked = 0
beforeAll(async () => {
  server = createServer((request, response) => {
    asked++
    request.resume()
    if (request.url === '/well') response.end(LAST_LINE)
    else if (request.url === '/badly') response.writeHead(500).end('no')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})
const at = (path: string) => ({
  adapterConfig: { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` },
})
let askedBefore = 0

adapterConformance('http', {
  adapter: httpAdapter(new CallbacksInMemory()),
  succeeds: () => at('/well'),
  fails: () => at('/badly'),
  lasts: () => {
    askedBefore = asked
    return at('/never')
  },
  hasBegun: () => asked > askedBefore,
  badConfigs: [
    [{}, 'url is missing'],
    [{ url: 'agent.example' }, 'url must be a complete http or https URL'],
    [{ url: 'file:///etc/passwd' }, 'url must be a complete http or https URL'],
    [{ url: 'http://me:secret@agent.example/' }, 'url must not contain a password'],
    [{ url: 'http://agent.example/', method: 'GET' }, 'method must be one of POST, PUT'],
    [{ url: 'http://agent.example/', headers: { 'a b': 'c' } }, 'headers.a b is not a valid header name'],
    [{ url: 'http://agent.example/', headers: { Host: 'c' } }, 'headers.Host cannot be set'],
    [{ url: 'http://agent.example/', headers: { a: 'b\r\nc: d' } }, 'headers.a'],
    [{ url: 'http://agent.example/', heartbeatTimeoutSec: 0 }, 'heartbeatTimeoutSec'],
    [{ url: 'http://agent.example/', cwd: '/tmp' }, 'cwd is not a setting of http'],
  ],
})
