import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import Fastify, { type FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installSafeHeaders } from '../../src/server/safe-headers.ts'
import { serveWebApp } from '../../src/server/web-app.ts'
import { sendAs } from '../support/browser.ts'
import { useServer } from '../support/http-workspace.ts'

/** The page and its assets. */

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const INDEX = `<!doctype html><html data-theme="__THEME__"><head><meta property="csp-nonce" nonce="__NONCE__"></head></html>`
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(500))})\n`

const folder = mkdtempSync(join(tmpdir(), 'baton-web-'))
const apps: FastifyInstance[] = []
async function served(from: string): Promise<{ url: string }> {
  const app = Fastify()
  apps.push(app)
  installSafeHeaders(app)
  await serveWebApp(app, { folder: from })
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}

let app: { url: string }
beforeAll(async () => {
  mkdirSync(join(folder, 'assets'))
  writeFileSync(join(folder, 'index.html'), INDEX)
  writeFileSync(join(folder, 'secret.txt'), 'not an asset')
  writeFileSync(join(folder, 'assets', '.hidden'), 'hidden')
  writeFileSync(join(folder, 'assets', 'main-1a2b.js'), SCRIPT)
  writeFileSync(join(folder, 'assets', 'main-1a2b.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(folder, 'assets', 'main-1a2b.js.gz'), gzipSync(SCRIPT))
  writeFileSync(join(folder, 'assets', 'plain-1a2b.css'), 'body {}')
  app = await served(folder)
})
afterAll(async () => {
  for (const one of apps) await one.close()
  rmSync(folder, { recursive: true })
})

const get = (path: string, headers: Record<string, string> = HTML) => sendAs(app, 'GET', path, headers)

describe('the page', () => {
  test('is sent at every address of the app, never stored, with a nonce of its own', async () => {
    const nonces = new Set<string>()
    for (const path of ['/', '/sign-in', '/w/1/board?task=2', '/tasks/A-001-x', '/healthy', '/apiary']) {
      const { status, headers, body } = await get(path)
      expect([path, status]).toEqual([path, 200])
      expect(headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
      })
      const [, nonce] = /'nonce-([A-Za-z0-9+/]{22}==)'/.exec(String(headers['content-security-policy']))!
      expect(body).toContain(`<meta property="csp-nonce" nonce="${nonce}">`)
      nonces.add(nonce!)
    }
    expect(nonces.size).toBe(6)
  })

  test('has a policy that loads nothing from elsewhere and runs nothing that is written into it', async () => {
    const policy = String((await get('/')).headers['content-security-policy'])
    expect(policy.replace(/nonce-[^']+/, 'nonce-…')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-…'; img-src 'self' data:; font-src 'self'; " +
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    )
  })

  test.each([
    ['dark', 'dark'],
    ['light', 'light'],
    ['system', 'system'],
    ['"><script>', 'system'],
    ['', 'system'],
  ])('has the theme of the cookie: "%s" is %s', async (cookie, theme) => {
    const { body } = await get('/', { ...HTML, cookie: `a=b; baton-theme=${cookie}` })
    expect(body).toContain(`<html data-theme="${theme}">`)
  })

  test('is for people: programs, writes and the paths of the API get the problem that they got', async () => {
    const REFUSED: [method: string, path: string, headers: Record<string, string>][] = [
      ['GET', '/nowhere', { accept: 'application/json' }],
      ['GET', '/nowhere', {}],
      ['POST', '/nowhere', HTML],
      ['GET', '/api', HTML],
      ['GET', '/api/v1/nowhere', HTML],
      ['GET', '/health/nowhere', HTML],
      ['GET', '/openapi.json/x', HTML],
      ['GET', '/assets/gone-1a2b.js', HTML],
    ]
    for (const [method, path, headers] of REFUSED) {
      const answer = await sendAs(app, method, path, headers)
      expect([path, answer.status, answer.body.code]).toEqual([path, 404, 'NOT_FOUND'])
      expect(answer.headers['cache-control']).toBe('no-store')
    }
  })

  test('that is not built says how to build it', async () => {
    const { status, body } = await sendAs(await served(join(folder, 'nowhere')), 'GET', '/', HTML)
    expect(status).toBe(200)
    expect(body).toContain('npm run build')
  })
})

describe('assets', () => {
  test('may be kept for ever, and are sent as they were compressed', async () => {
    const path = '/assets/main-1a2b.js'
    const FORMS: [accepts: string, encoding: string | undefined][] = [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['identity', undefined],
    ]
    for (const [accepts, encoding] of FORMS) {
      const { status, headers } = await get(path, { 'accept-encoding': accepts })
      expect([status, headers['content-encoding']]).toEqual([200, encoding])
      expect(headers['content-type']).toMatch(/^(text|application)\/javascript/)
      expect(headers['cache-control']).toBe('public, max-age=31536000, immutable')
      expect(headers.vary).toBe('accept-encoding')
    }
    const plain = await get('/assets/plain-1a2b.css', { 'accept-encoding': 'br' })
    expect([plain.status, plain.headers['content-encoding'], plain.body]).toEqual([200, undefined, 'body {}'])
  })

  test('are what is in their folder, and nothing beside it', async () => {
    for (const path of [
      '/assets/../secret.txt',
      '/assets/%2e%2e/secret.txt',
      '/assets/..%2fsecret.txt',
      '/assets/',
      '/assets/.hidden',
    ])
      expect([path, (await get(path, {})).status]).toEqual([path, expect.toBeOneOf([400, 403, 404])])
  })
})

describe('a server', () => {
  const { served: server } = useServer()
  test('shows the page without a key, and not under a foreign host', async () => {
    const page = await sendAs(server(), 'GET', '/', HTML)
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    const foreign = await sendAs(server(), 'GET', '/', { ...HTML, host: 'evil.example' })
    expect([foreign.status, foreign.body.code]).toEqual([403, 'HOST_NOT_ALLOWED'])
  })
})
