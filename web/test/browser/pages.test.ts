import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { axe, axeOnColours } from '../../../test/support/browser/axe.ts'
import type { Filled } from '../../../test/support/browser/fixture.ts'
import { tabThrough } from '../../../test/support/browser/keyboard.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { PAGES } from '../../../test/support/browser/pages.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Workspace } from '../../../test/support/http-workspace.ts'

/** What is true of every page. What only one of them does is tested in a file of its own. */

const MOST_CALLS = 5
const IDLE_MS = 60_000
/** A usual screen at a zoom of 200 %. */
const HALF = { width: 720, height: 450 }
const SKIP = 'Skip to content'

const { isHere, filledWorkspace, prepare } = useBrowser()

let w: Workspace
let made: Filled
let desk: OpenedPage
let phones: OpenedPage
beforeAll(async () => {
  if (!isHere) return
  ;({ w, made } = await filledWorkspace())
  desk = await prepare(w)
  // Timers can then be moved forward; until that happens they run as usual.
  await desk.page.clock.install()
  phones = await prepare(w, { phone: true })
})
afterAll(async () => {
  await desk?.close()
  await phones?.close()
})

/** A request without a reason is a fault of the page; events of that time are shown beside the request. */
const lastEvent = async ({ call }: Workspace): Promise<number> => (await call('GET', '/session')).body.head

test('every route of the app is a page that is checked', () => {
  const table = readFileSync(new URL('../../src/routes.tsx', import.meta.url), 'utf8')
  const routes = [...table.matchAll(/\bpage\(\s*'([^']+)'/g)].map(([, route]) => route!)
  expect(routes.length).toBeGreaterThan(0)
  expect(routes.filter((one) => !PAGES.some(({ route }) => route === one))).toEqual([])
})

test.skipIf(!isHere)('the keyboard reaches the frame of a page first, and then the page', async () => {
  desk = desk.again()
  await desk.goto('/settings/keys')
  const stops = await tabThrough(desk.page)
  expect(stops[0]).toBe(SKIP)
  const places = [/^Theme$/, /^Inbox/, /^Settings$/, /^New key/].map((name) =>
    stops.findIndex((one) => name.test(one)),
  )
  expect(places).toEqual(places.toSorted((a, b) => a - b))
  expect(places).not.toContain(-1)
})

describe.skipIf(!isHere).each(PAGES)('the page $name', ({ path, mainAct }) => {
  let opened: OpenedPage
  beforeAll(async () => {
    opened = desk = desk.again()
    await opened.goto(path(made))
  })

  test('is complete after at most five calls, without a fault', () => {
    expect(opened.faults).toEqual([])
    expect(opened.calls.length, opened.calls.join('\n')).toBeLessThanOrEqual(MOST_CALLS)
  })

  test('has one heading, and a title of its own', async () => {
    const heading = opened.page.locator('h1')
    expect(await heading.count()).toBe(1)
    expect((await heading.innerText()).trim()).not.toBe('')
    expect(await opened.page.title()).toMatch(/\S+.*Baton$/)
  })

  test('sends no request while nothing happens', async () => {
    const head = await lastEvent(w)
    const asked = await opened.callsWhileIdle(IDLE_MS)
    expect(asked, JSON.stringify(await w.events(head))).toEqual([])
  })

  test('is accessible, in light and in dark', async () => {
    const look = () => opened.page.evaluate('getComputedStyle(document.body).color')
    expect(await axe(opened.page)).toEqual([])
    const light = await look()
    onTestFinished(() => opened.page.emulateMedia({ colorScheme: 'light' }))
    await opened.page.emulateMedia({ colorScheme: 'dark' })
    expect(await look()).not.toBe(light)
    expect(await axeOnColours(opened.page)).toEqual([])
  })

  test.skipIf(mainAct === null)('offers its main act to the keyboard', async () => {
    // As people do who know the frame: it is the same on every page.
    await opened.page.getByRole('button', { name: SKIP }).press('Enter')
    expect(await tabThrough(opened.page)).toContainEqual(expect.stringMatching(mainAct!))
  })

  test('scrolls inside itself and is accessible, also in half a window', async () => {
    const before = opened.page.viewportSize()!
    onTestFinished(() => opened.page.setViewportSize(before))
    for (const size of [HALF, before]) {
      await opened.page.setViewportSize(size)
      await opened.atRest(100)
      expect(await opened.overflow(), `${size.width} px`).toBe(0)
      expect(await opened.documentScroll(), `${size.width} px`).toBe(0)
      // What has no room there must scroll, not shrink below what a finger hits.
      if (size === HALF) expect(await axe(opened.page)).toEqual([])
    }
  })

  test('fits a phone', async () => {
    phones = phones.again()
    await phones.visit(path(made))
    expect(await phones.overflow()).toBe(0)
    expect(await phones.documentScroll()).toBe(0)
    expect(await axe(phones.page)).toEqual([])
    expect(phones.calls.length, phones.calls.join('\n')).toBeLessThanOrEqual(MOST_CALLS)
    expect(phones.faults).toEqual([])
  })
})
