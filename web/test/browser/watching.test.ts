import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { tabThrough } from '../../../test/support/browser/keyboard.ts'
import { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { useChromium } from '../../../test/support/browser/use-browser.ts'

/** The checks of all pages find what they look for: pages that do one thing wrong each. */

const PAGES: Record<string, string> = {
  '/fine': '<h1>Fine</h1><img src="data:," alt="">',
  '/error': '<h1>Error</h1><script src="/throws.js"></script>',
  '/inline': '<h1>Inline</h1><script>document.title = 1</script>',
  '/elsewhere': '<h1>Elsewhere</h1><img src="http://localhost:9/pixel.png" alt="">',
  '/missing': '<h1>Missing</h1><script src="/none.js"></script>',
  '/asks': '<h1>Asks</h1><script src="/asks.js"></script>',
  '/polls': '<h1>Polls</h1><script src="/polls.js"></script>',
  '/wide': '<h1>Wide</h1><div style="width:3000px">wide</div>',
  '/nameless': '<h1>Nameless</h1><button></button><p style="color:#ccc">faint</p>',
  '/keys':
    '<h1>Keys</h1><label>Title <input></label><button>Save</button><a href="#" aria-label="Away">x</a>',
  '/unseen': '<h1>Unseen</h1><button style="outline:none">Save</button>',
  '/throws.js': `console.error('said'); throw new Error('thrown')`,
  '/polls.js': `setInterval(() => Promise.resolve().then(() => fetch('/api/v1/again')), 20000)`,
  '/asks.js': `fetch('/api/v1/slow?n=1').then(() => fetch('/api/v1/slow', { method: 'POST' }))`,
}
const SLOW_MS = 700
const POLICY = `default-src 'self'; img-src *  data:; style-src 'unsafe-inline'`

describe('a page is watched', () => {
  const { isHere, browser } = useChromium()
  let server: Server
  let url: string
  beforeAll(async () => {
    server = createServer((request, response) => {
      const path = request.url!.split('?')[0]!
      const type = path.endsWith('.js') ? 'text/javascript' : 'text/html'
      const known = PAGES[path] ?? (path === '/favicon.ico' || path.startsWith('/api/') ? '' : undefined)
      const html =
        type === 'text/html' ? `<!doctype html><html lang="en"><title>t</title><main>${known}</main>` : known
      response.writeHead(known === undefined ? 404 : 200, {
        'content-type': type,
        'content-security-policy': POLICY,
      })
      setTimeout(() => response.end(html), path.startsWith('/api/') ? SLOW_MS : 0)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server?.close())

  async function open(path: string, viewport = { width: 390, height: 844 }): Promise<OpenedPage> {
    const context = await browser().newContext({ viewport })
    const opened = new OpenedPage(context, await context.newPage(), url, '')
    onTestFinished(() => opened.close())
    await opened.goto(path)
    return opened
  }

  test.skipIf(!isHere)('and one without faults has none', async () => {
    const opened = await open('/fine')
    expect([opened.faults, opened.calls, await opened.overflow(), await axe(opened.page)]).toEqual([
      [],
      [],
      0,
      [],
    ])
  })

  test.each([
    ['an error on its console', '/error', /^console: said/],
    ['an exception', '/error', /^exception: thrown/],
    ['a breach of its policy', '/inline', /^console: .*Content Security Policy/],
    ['a request to another host', '/elsewhere', /^request to another host: http:\/\/localhost:9\/pixel.png/],
    ['a file that is missing', '/missing', /^console: .*404.*none\.js/],
  ])('for %s', async (_, path, fault) => {
    const opened = await open(path)
    expect(opened.faults).toContainEqual(expect.stringMatching(fault))
    opened.expected.push(/./)
    expect(opened.faults).toEqual([])
  })

  test('for its calls, until the last one that follows from another is answered', async () => {
    expect((await open('/asks')).calls).toEqual(['GET /slow?n=1', 'POST /slow'])
  })

  test('for requests that it repeats', async () => {
    const opened = await open('/fine')
    await opened.page.clock.install()
    await opened.goto('/fine')
    expect(await opened.callsWhileIdle(60_000)).toEqual([])
    await opened.goto('/polls')
    expect(await opened.callsWhileIdle(60_000)).toEqual(['GET /again', 'GET /again', 'GET /again'])
  })

  test('for what is wider than its window', async () => {
    expect(await (await open('/wide')).overflow()).toBeGreaterThan(2_500)
    expect(await (await open('/wide', { width: 3200, height: 800 })).overflow()).toBe(0)
  })

  test('for what the keyboard reaches, and whether it is seen', async () => {
    expect(await tabThrough((await open('/keys')).page)).toEqual(['Title', 'Save', 'Away'])
    await expect(tabThrough((await open('/unseen')).page)).rejects.toThrow('cannot be seen on “Save”')
  })

  test('for what is not accessible', async () => {
    expect(await axe((await open('/nameless')).page)).toEqual([
      expect.stringContaining('button-name'),
      expect.stringContaining('color-contrast'),
    ])
  })
})
