import type { BrowserContext, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { makeMission } from '../../../test/support/http-missions.ts'
import { fence, inState, type Workspace } from '../../../test/support/http-workspace.ts'

/** What begins to wait while the page is not in view is told by the system. */

const { isHere, workspace, prepare } = useBrowser()

/**
 * A browser without windows says "denied" of `Notification.permission`, shows nothing, and is always in view. The question itself is
 * its own. What is shown is kept for the test, by its tag as systems do, and so is each answer to whether a tab is in view, after which
 * something is told or not.
 */
const OBSERVED = `{
  const real = Notification
  const locks = navigator.locks
  const request = locks.request.bind(locks)
  window.inView = []
  locks.request = async (name, options, run) => {
    const answer = await request(name, options, run)
    if (options.ifAvailable) window.inView.push(answer)
    return answer
  }
  const shown = (window.shownByTag = new Map())
  window.told = []
  window.Notification = class {
    static permission = localStorage.getItem('allowed-in-this-test') ?? 'default'
    static async requestPermission() {
      this.permission = await real.requestPermission()
      localStorage.setItem('allowed-in-this-test', this.permission)
      return this.permission
    }
    constructor(title, { body, tag } = {}) {
      this.tag = tag
      if (window.Notification.permission !== 'granted') return
      shown.set(tag, this)
      Object.assign(this, { title, body })
      window.told.push(title)
    }
    close() { if (shown.get(this.tag) === this) shown.delete(this.tag) }
  }
}`

const HIDDEN = (isHidden: boolean) => `
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
  document.dispatchEvent(new Event('visibilitychange'))`
const hide = (page: Page) => page.evaluate(HIDDEN(true))
const look = (page: Page) => page.evaluate(HIDDEN(false))

/** Titles and texts of what the system shows now. */
const shown = (page: Page) =>
  page.evaluate<string[]>(`[...shownByTag.values()].map(({ title, body }) => title + ': ' + body)`)
const told = (page: Page) => page.evaluate<string[]>('told')
const click = (page: Page, title: string) =>
  page.evaluate(`[...shownByTag.values()].find((one) => one.title === ${JSON.stringify(title)}).onclick()`)

const proposed = (w: Workspace, title: string) =>
  makeMission(w, [{ tempId: 'a', title: 'First' }], { goal: title, title, config: {} })

/** A task whose agent asks. */
async function asks(w: Workspace, title: string) {
  const task = await w.held({ title })
  const ask = { ...fence('s-alpha', 1), question: 'Which colour?' }
  expect((await w.on(task, 'ask', ask)).status).toBe(200)
  return task
}

const asked = (page: Page) => page.getByRole('region', { name: 'Notifications' })

/** A browser whose user lets the page notify, and asks to be notified. */
async function notified(w: Workspace, path: string, use: (opened: OpenedPage) => Promise<void>) {
  const opened = await prepare(w)
  const context: BrowserContext = opened.page.context()
  try {
    await context.grantPermissions(['notifications'])
    await context.addInitScript(OBSERVED)
    await opened.goto(path)
    await use(opened)
    expect(opened.faults).toEqual([])
  } finally {
    await opened.close()
  }
}

describe.skipIf(!isHere)('notifications', () => {
  test('are offered when something waits, once, and then tell what waits while the page is not in view; a click opens it', async () => {
    const w = await workspace()
    await notified(w, '/board', async ({ page, calls }) => {
      expect(await asked(page).count()).toBe(0)
      await proposed(w, 'Migrate billing')
      await asked(page).getByRole('button', { name: 'Notify me' }).click()
      await asked(page).waitFor({ state: 'detached' })
      await hide(page)
      const before = calls.length
      const task = await asks(w, 'Build the pages')
      await expect
        .poll(() => shown(page))
        .toEqual([expect.stringMatching(/^A question waits for you: .*alpha/)])
      expect(calls.slice(before).filter((call) => call.includes('/inbox'))).toEqual([])
      await click(page, 'A question waits for you')
      await page.waitForURL(/\/inbox\?/)
      expect(await shown(page)).toEqual([])
      await look(page)
      await page.getByRole('article').getByText('Which colour?').waitFor()
      expect(decodeURIComponent(page.url())).toContain(`item=task:${task.id}:1`)
    })
  })

  test('that are not wanted are not offered again, and none come', async () => {
    const w = await workspace()
    await proposed(w, 'Migrate billing')
    await notified(w, '/', async (opened) => {
      const { page } = opened
      await asked(page).getByRole('button', { name: 'Not now' }).click()
      await asked(page).waitFor({ state: 'detached' })
      await opened.goto('/agents')
      await expect.poll(() => page.title()).toContain('(1)')
      expect(await asked(page).count()).toBe(0)
      await hide(page)
      await proposed(w, 'Move house')
      await expect.poll(() => page.title()).toContain('(2)')
      expect(await told(page)).toEqual([])
      // The browser was not asked either.
      expect(await page.evaluate('Notification.permission')).toBe('default')
    })
  })

  test('of several tabs are one, none comes while one of them is in view, and they go when somebody looks', async () => {
    const w = await workspace()
    await proposed(w, 'Migrate billing')
    await notified(w, '/agents', async (opened) => {
      const { page } = opened
      await asked(page).getByRole('button', { name: 'Notify me' }).click()
      const other = await page.context().newPage()
      await other.goto(opened.address('/agents'))
      await other.getByRole('heading', { level: 1 }).waitFor()
      const all = async () =>
        [...(await shown(page)), ...(await shown(other))].map((one) => one.split(':')[0])
      await hide(page)
      await asks(w, 'Seen in the other tab')
      await expect.poll(() => page.evaluate('inView')).toEqual([true])
      expect(await all()).toEqual([])
      await hide(other)
      await inState.awaiting_human(w)
      await expect.poll(all).toEqual(['A result waits for your review'])
      await look(other)
      await expect.poll(all).toEqual([])
      // The tab that tells is closed: the other one tells.
      await hide(other)
      await page.close()
      await proposed(w, 'Move house')
      await expect.poll(async () => (await shown(other)).length).toBe(1)
    })
  })

  test('are muted by kind in the settings, and withdrawn when somebody else has answered', async () => {
    const w = await workspace()
    await notified(w, '/settings/notifications', async ({ page }) => {
      await page.getByRole('switch', { name: 'Notify me of what waits' }).click()
      await page.getByRole('switch', { name: 'Notify me of what waits', checked: true }).waitFor()
      await page.getByRole('switch', { name: 'Questions' }).click()
      await hide(page)
      const task = await asks(w, 'Build the pages')
      const mission = await proposed(w, 'Migrate billing')
      await expect.poll(() => told(page)).toEqual(['An approval waits for you'])
      expect((await w.post(`/missions/${mission.id}/approve`)).status).toBe(200)
      await expect.poll(() => shown(page)).toEqual([])
      expect((await w.call('GET', `/tasks/${task.id}`)).body.state).toBe('awaiting_human')
    })
  })
})
