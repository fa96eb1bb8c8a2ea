import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Filled } from '../../../test/support/browser/fixture.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { PAGES } from '../../../test/support/browser/pages.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

/** A viewer, who may only read, sees all pages. Forbidden acts are shown disabled, with the reason. */

const { isHere, filledWorkspace, prepare } = useBrowser()

const acting = PAGES.filter(({ mainAct, isForReaders }) => mainAct !== null && !isForReaders)

describe.skipIf(!isHere)('a viewer', () => {
  let made: Filled
  let opened: OpenedPage
  beforeAll(async () => {
    const filled = await filledWorkspace()
    made = filled.made
    const { status, body } = await filled.w.post('/keys', { name: 'reader', role: 'viewer' })
    expect(status).toBe(201)
    opened = await prepare({ ownerKey: body.key })
  })
  afterAll(() => opened?.close())

  // Reads with a body are no acts.
  const isAct = (call: string) => !/^GET |^POST \/(tasks\/cards|runs\/tails|prompts\/preview)$/.test(call)

  test.each(acting)('finds the main act of the page $name disabled, with the reason', async (one) => {
    const { page } = opened
    await opened.goto(one.path(made))
    const act = page.getByRole('button', { name: one.mainAct! }).first()
    expect(await act.getAttribute('aria-disabled')).toBe('true')
    await act.hover()
    await page
      .getByRole('tooltip')
      .getByText(/needs the right/)
      .waitFor()
    // By force: otherwise the click waits until it is enabled.
    await act.click({ force: true })
    expect([opened.calls.filter(isAct), opened.faults]).toEqual([[], []])
  })

  test('cannot act by keyboard either', async () => {
    const { page } = opened
    for (const path of ['/inbox', `/tasks/${made.taskId}`]) {
      await opened.goto(path)
      for (const key of ['a', 'r', 'p', 't']) await page.keyboard.press(key)
      await opened.atRest()
      expect(await page.getByRole('dialog').count()).toBe(0)
    }
    // The form of a new task is open to all, by its address.
    await opened.goto('/board?new=task')
    await page.getByRole('dialog').getByLabel('Title').fill('Write the docs')
    await page.keyboard.press('Control+Enter')
    await opened.atRest()
    expect([opened.calls.filter(isAct), opened.faults]).toEqual([[], []])
  })
})
