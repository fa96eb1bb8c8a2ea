import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Filled } from '../../../test/support/browser/fixture.ts'
import { HOSTILE } from '../../../test/support/browser/hostile-words.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { PAGES } from '../../../test/support/browser/pages.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

/** Whatever people and agents write is shown as text, and does not break the layout. */

const { isHere, filledWorkspace, prepare, workspace, openPage } = useBrowser()

let made: Filled
let reader: OpenedPage
const dialogs: string[] = []
beforeAll(async () => {
  if (!isHere) return
  const filled = await filledWorkspace(HOSTILE)
  made = filled.made
  reader = await prepare(filled.w)
  reader.page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    dialog.dismiss().catch(() => undefined)
  })
})
afterAll(() => reader?.close())

const PLANTED = `img[src]:not([src^="data:"]):not([src^="/"]), img[onerror], svg[onload], b[onmouseover], [href^="javascript:"], script:not([src])`

describe.skipIf(!isHere).each(PAGES)('hostile text on the page $name', ({ path }) => {
  let opened: OpenedPage
  beforeAll(async () => {
    opened = reader = reader.again()
    dialogs.length = 0
    await opened.visit(path(made))
  })

  test('stays text', async () => {
    expect(await opened.page.locator(PLANTED).count()).toBe(0)
    expect(await opened.page.evaluate('window.wasOwned ?? null')).toBeNull()
    expect(dialogs).toEqual([])
    expect(opened.faults).toEqual([])
  })

  test('fits the window, and a phone', async () => {
    expect(await opened.overflow()).toBe(0)
    const before = opened.page.viewportSize()!
    onTestFinished(() => opened.page.setViewportSize(before))
    await opened.page.setViewportSize({ width: 390, height: 844 })
    await opened.atRest()
    expect(await opened.overflow()).toBe(0)
  })
})

test.skipIf(!isHere)(
  'a text that would stop the tab if it were read as Markdown is shown as it is',
  async () => {
    const w = await workspace()
    const quotes = '>'.repeat(40_000)
    const task = await w.make({ title: 'Quote them all', description: quotes })
    expect((await w.on(task, 'comments', { text: `${quotes.slice(0, 9_000)} says a comment` })).status).toBe(
      201,
    )
    const { page } = await openPage(w, `/tasks/${task.id}?tab=comments`)
    await page.getByText('says a comment').waitFor()
    expect(await page.getByText(quotes, { exact: true }).count()).toBe(1)
    expect(await page.locator('blockquote').count()).toBe(0)
    // Stopped, it would not open this.
    await page.keyboard.press('?')
    await page.getByRole('dialog').waitFor()
  },
)
