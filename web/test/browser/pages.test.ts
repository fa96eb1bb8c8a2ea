import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { type Filled, fillWorkspace } from '../../../test/support/browser/fixture.ts'
import { tabThrough } from '../../../test/support/browser/keyboard.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { PAGES } from '../../../test/support/browser/pages.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Workspace } from '../../../test/support/http-workspace.ts'

/** What is true of every page. What only one of them does is tested in a file of its own. */

const MOST_CALLS = 5
const IDLE_MS = 30_000

const { isHere, workspace, prepare, openPage } = useBrowser()

let w: Workspace
let made: Filled
beforeAll(async () => {
  if (!isHere) return
  w = await workspace()
  made = await fillWorkspace(w)
})

test('every route of the app is a page that is checked', () => {
  const table = readFileSync(new URL('../../src/routes.tsx', import.meta.url), 'utf8')
  const routes = [...table.matchAll(/\bpage\(\s*'([^']+)'/g)].map(([, route]) => route!)
  expect(routes.length).toBeGreaterThan(0)
  expect(routes.filter((one) => !PAGES.some(({ route }) => route === one))).toEqual([])
})

describe.skipIf(!isHere).each(PAGES)('the page $name', ({ path, mainAct }) => {
  let opened: OpenedPage
  beforeAll(async () => {
    opened = await prepare(w)
    // Timers can be moved forward then; until that happens they run as always.
    await opened.page.clock.install()
    await opened.goto(path(made))
  })
  afterAll(() => opened?.close())

  test('is there after at most five calls, without a fault', () => {
    expect(opened.faults).toEqual([])
    expect(opened.calls.length, opened.calls.join('\n')).toBeLessThanOrEqual(MOST_CALLS)
  })

  test('has one heading, and a title of its own', async () => {
    const heading = opened.page.locator('h1')
    expect(await heading.count()).toBe(1)
    expect((await heading.innerText()).trim()).not.toBe('')
    expect(await opened.page.title()).toMatch(/\S+.*Baton$/)
  })

  test('asks nothing while nothing happens', async () => {
    const before = opened.calls.length
    await opened.page.clock.runFor(IDLE_MS)
    await opened.atRest()
    expect(opened.calls.slice(before)).toEqual([])
  })

  test('can be used by everybody, in light and in dark', async () => {
    expect(await axe(opened.page)).toEqual([])
    await opened.page.emulateMedia({ colorScheme: 'dark' })
    expect(await axe(opened.page)).toEqual([])
    await opened.page.emulateMedia({ colorScheme: 'light' })
  })

  test.skipIf(mainAct === null)('offers its main act to the keyboard', async () => {
    expect(await tabThrough(opened.page)).toContainEqual(expect.stringMatching(mainAct!))
  })

  test('fits a phone', async () => {
    const phone = await openPage(w, path(made), { phone: true })
    expect(await phone.overflow()).toBe(0)
    expect(await axe(phone.page)).toEqual([])
    expect(phone.calls.length, phone.calls.join('\n')).toBeLessThanOrEqual(MOST_CALLS)
  })
})
