import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { oneTimeLink } from '../../../test/support/browser/sign-in.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

describe('a person signs in', () => {
  const { browser, served, workspace, borrowed, openPage } = useBrowser()

  async function stranger() {
    const opened = await borrowed({})
    // Refusals are what some of these tests are about.
    opened.expected.push(/401|403|another host: http:\/\/localhost/)
    return opened.page
  }

  /** Until the app is shown: Chromium may never close a page that is still loading. */
  async function entered(page: Page) {
    await page.waitForURL(/\/w\//)
    await page.locator('h1').first().waitFor()
  }

  test('with a link, which works once and leaves no trace in the address', async () => {
    const link = await oneTimeLink(served().url, (await workspace()).ownerKey)
    const page = await stranger()
    await page.goto(link)
    await entered(page)
    expect(page.url()).not.toContain('#')
    await page.goBack()
    expect(page.url()).not.toContain(new URL(link).hash.slice(1))

    const late = await stranger()
    await late.goto(link)
    await late.getByText('npm run link').first().waitFor()
    expect(new URL(late.url()).pathname).toBe('/sign-in')
    expect(await axe(late)).toEqual([])
  })

  test('with a link that is opened or pasted where the sign-in page is already shown', async () => {
    const { ownerKey } = await workspace()
    const page = await stranger()
    await page.goto(`${served().url}/sign-in`)
    await page.getByText('npm run link').first().waitFor()
    // Only the fragment changes, so the browser loads no page.
    await page.goto(await oneTimeLink(served().url, ownerKey))
    await entered(page)
    const other = await stranger()
    await other.goto(`${served().url}/sign-in`)
    await other.getByLabel(/key/i).fill(await oneTimeLink(served().url, ownerKey))
    await other.getByLabel(/key/i).press('Enter')
    await entered(other)
  })

  test('with a key, and reads why another one is refused', async () => {
    const page = await stranger()
    await page.goto(`${served().url}/sign-in`)
    expect(await axe(page)).toEqual([])
    const field = page.getByLabel(/key/i)
    await field.fill('baton_of-nobody')
    await field.press('Enter')
    const refusal = page.getByRole('alert').first()
    await refusal.waitFor()
    // Once: the title of the refusal would say the same again.
    expect(await refusal.innerText()).toBe('This key is not valid here.')
    expect(await axe(page)).toEqual([])
    const before = page.viewportSize()!
    await page.setViewportSize({ width: 720, height: 450 })
    const root = 'document.documentElement'
    expect(await page.evaluate(`${root}.scrollHeight - ${root}.clientHeight`)).toBe(0)
    await page.setViewportSize(before)
    await field.fill((await workspace()).ownerKey)
    await field.press('Enter')
    await entered(page)
  })

  test('sees how, whatever the address', async () => {
    for (const path of ['/', '/w/01a2b3c4-0000-7000-8000-000000000000/board']) {
      const page = await stranger()
      await page.goto(served().url + path)
      await page.getByText('npm run link').first().waitFor()
    }
  })

  test('and is sent there again when the session is ended, and back to where it was', async () => {
    const w = await workspace()
    const { page, expected } = await openPage(w, '/settings/appearance')
    // Requests that are refused because of it are on the console.
    expected.push(/401|4401|WebSocket/)
    const { items } = (await w.call('GET', '/session/all')).body
    for (const { id } of items) expect((await w.call('DELETE', `/session/all/${id}`)).status).toBe(204)
    await page.waitForURL(/\/sign-in\?back=/)
    await page.getByLabel(/key/i).fill(w.ownerKey)
    await page.getByLabel(/key/i).press('Enter')
    await page.waitForURL(/\/settings\/appearance/)
  })

  test('at localhost with a link, and is led to the address of Baton before that', async () => {
    const { url } = served()
    const link = await oneTimeLink(url, (await workspace()).ownerKey)
    const page = await stranger()
    await page.goto(link.replace('127.0.0.1', 'localhost'))
    await entered(page)
    expect(new URL(page.url()).origin).toBe(url)
  })

  test('not over plain http beyond this machine: nothing is sent, and the page says what to do', async () => {
    const context = await browser().newContext()
    onTestFinished(() => context.close())
    const page = await context.newPage()
    // What a browser says of such a page.
    await page.addInitScript('Object.defineProperty(window, "isSecureContext", { value: false })')
    const sent: string[] = []
    page.on('request', (request) => sent.push(request.url()))
    await page.goto(await oneTimeLink(served().url, (await workspace()).ownerKey))
    await page.getByRole('heading', { name: 'Sign in over https' }).waitFor()
    await page.getByText(/^ssh -N -L 4400:/).waitFor()
    expect(sent.filter((url) => url.includes('/api/'))).toEqual([])
    expect(await axe(page)).toEqual([])
  })

  test('again, which ends the session before in this browser', async () => {
    const w = await workspace()
    const context = await browser().newContext()
    onTestFinished(() => context.close())
    const sessions = async () => (await w.call('GET', '/session/all')).body.items.length
    for (let i = 0; i < 2; i++) {
      const page = await context.newPage()
      await page.goto(await oneTimeLink(served().url, w.ownerKey))
      await entered(page)
    }
    expect(await sessions()).toBe(1)
  })

  test('and out everywhere: all sessions of the key end, and the page asks first', async () => {
    const w = await workspace()
    const { page, expected } = await openPage(w, '/settings/appearance')
    expected.push(/401|4401|WebSocket/)
    await page.getByRole('button', { name: /^Workspace/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out everywhere' }).click()
    const confirm = page.getByRole('dialog').getByRole('button', { name: /^Sign out everywhere/ })
    await confirm.waitFor()
    expect(await axe(page)).toEqual([])
    expect((await w.call('GET', '/session/all')).body.items).toHaveLength(1)
    await confirm.click()
    await page.getByText('npm run link').first().waitFor()
    expect((await w.call('GET', '/session/all')).body.items).toEqual([])
  })

  test('to several workspaces; switching to another one leaves nothing of the previous one', async () => {
    const [first, second] = [await workspace(), await workspace()]
    await first.make({ title: 'Of the first' })
    await second.make({ title: 'Of the second' })
    const { page, address } = await openPage(first, '/board')
    const link = await oneTimeLink(served().url, second.ownerKey)
    await page.goto(link)
    await page.waitForURL((url) => url.pathname.startsWith('/w/') && !url.href.startsWith(address('')))
    const onBoard = async (title: string) => {
      await page.locator('h1').waitFor()
      await page.keyboard.press('g')
      await page.keyboard.press('b')
      await page.getByRole('link', { name: title }).waitFor()
    }
    await onBoard('Of the second')
    await page.evaluate('window.isOfTheSecond = true')
    await page.getByRole('button', { name: /^Workspace/ }).click()
    await page.getByRole('menuitemcheckbox', { checked: false }).click()
    await page.waitForURL((url) => url.href.startsWith(address('')))
    await onBoard('Of the first')
    // A new document: what was read, and the socket, ended with the previous one.
    expect(await page.evaluate('window.isOfTheSecond')).toBeUndefined()
    await second.make({ title: 'Of the second, later' })
    await first.make({ title: 'Of the first, later' })
    await page.getByText('Of the first, later').waitFor()
    expect(await page.getByText('Of the second').count()).toBe(0)
  })

  test('and an address without a page says so, with a link to another page', async () => {
    const { page } = await openPage(await workspace(), '/no-such-page')
    expect(await page.getByRole('link').count()).toBeGreaterThan(0)
    expect(await axe(page)).toEqual([])
  })
})
