import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { makeMission, showMission, submit, take } from '../../../test/support/http-missions.ts'
import { fence, type Json, type Workspace } from '../../../test/support/http-workspace.ts'

/** What every page has: people are told of ends, keys peek and make, the palette finds and does, reasons have lines. */

const { isHere, workspace, openPage } = useBrowser()

/** An item takes answers only 300 ms after it was shown, by the clock of the page. */
const settled = (page: Page) =>
  page.evaluate(`new Promise((settle) => requestAnimationFrame(() => setTimeout(settle, 350)))`)

const focused = (page: Page) =>
  page.evaluate(`document.activeElement?.closest('[data-card]')?.dataset.card ?? null`)

async function ended(w: Workspace, title: string): Promise<Json> {
  const mission = await makeMission(w, [{ tempId: 'a' }], { title })
  await submit(w, await take(w))
  return mission
}

/** Looks for a text in the palette. */
async function look(page: Page, text: string) {
  await page.keyboard.press('Control+k')
  const palette = page.getByRole('dialog', { name: 'Find or do anything' })
  await palette.getByRole('combobox').fill(text)
  return palette
}

describe.skipIf(!isHere)('everywhere', () => {
  test('a mission that ends is told at once, and stays in the inbox until it is seen, without a badge', async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/agents')
    const mission = await ended(w, 'Migrate billing')
    const told = page.getByRole('region', { name: 'Messages' })
    await told.getByText('Completed: Migrate billing').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('article', { name: 'Completed: Migrate billing' }).getByText('1 of 1 task').waitFor()
    expect(await page.title()).toBe('Inbox · Baton')
    await page.getByRole('button', { name: /^Finished/ }).click()
    await page.getByRole('button', { name: 'Mark as seen' }).waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('Every ended mission was seen').or(page.getByText('Nothing is waiting')).waitFor()
    await expect.poll(async () => (await showMission(w, mission)).unseen).toBe(false)
    // Opened from there, the next one is seen, too.
    const next = await ended(w, 'Move house')
    // The tab had the focus, and Enter would press it.
    await page.getByRole('article', { name: 'Completed: Move house' }).getByText('Goal').click()
    await settled(page)
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/missions\/.*view=report/)
    await expect.poll(async () => (await showMission(w, next)).unseen).toBe(false)
  })

  test('Space peeks at the chosen card, whose link keeps the focus, and closes it again', async () => {
    const w = await workspace()
    const [first, second] = [await w.make({ title: 'one' }), await w.make({ title: 'two' })]
    const { page } = await openPage(w, '/board')
    await page.getByRole('link', { name: 'one' }).waitFor()
    await page.keyboard.press('j')
    await expect.poll(() => focused(page)).toBe(first.id)
    const panel = page.getByRole('complementary').getByRole('heading', { level: 3 })
    for (const [key, shown] of [
      ['Space', 'one'],
      ['j', 'one'],
      ['Space', 'two'],
    ] as const) {
      await page.keyboard.press(key)
      await panel.getByText(shown).waitFor()
    }
    expect(await focused(page)).toBe(second.id)
    await page.keyboard.press('Space')
    await panel.waitFor({ state: 'detached' })
    expect(await focused(page)).toBe(second.id)
  })

  test('the palette finds a task by its number and by an error, and pauses what is named', async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Build it', maxRetries: 0 })
    const error = "Cannot find module './missing.js'"
    await w.on(task, 'fail', { ...fence('s-alpha', 1), failureClass: 'quality', error })
    const waiting = await w.make({ title: 'Wash the window' })
    const { page } = await openPage(w, '/agents')
    const number = Number.parseInt(String(task.id).slice(-12), 16)
    const byNumber = await look(page, `#${number}`)
    await byNumber.getByRole('option', { name: `#${number} Build it` }).waitFor()
    await byNumber.getByRole('combobox').fill('missing.js')
    await byNumber.getByText(error).waitFor()
    await byNumber.getByRole('combobox').fill('pause window')
    await byNumber.getByRole('option', { name: 'Pause Wash the window' }).click()
    await expect.poll(async () => (await w.read(waiting)).state).toBe('paused')
    // All that failed, after one question.
    await (await look(page, 'retry failed')).getByRole('option', { name: 'Retry all failed tasks' }).click()
    await page.getByRole('dialog').getByText('Retry 1 failed task?').waitFor()
    await page.keyboard.press('Enter')
    await expect.poll(async () => (await w.read(task)).state).toBe('queued')
    // A new task opens over the page that is there.
    await page.keyboard.press('c')
    await page.keyboard.press('t')
    await page.getByRole('dialog', { name: 'New task' }).waitFor()
    expect(new URL(page.url()).pathname).toMatch(/\/agents$/)
  })

  test('what closes gives the focus back to where it came from', async () => {
    const w = await workspace()
    const { page, address } = await openPage(w, '/workers')
    const hasFocus = (name: RegExp) =>
      expect
        .poll(() =>
          page.getByRole('button', { name }).evaluate((one) => one === one.ownerDocument.activeElement),
        )
        .toBe(true)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: /^Requeue stalled/ }).focus()
    // By its own button, and by the keys of the page.
    for (const key of ['Enter', '?', 'Control+k']) {
      await page.keyboard.press(key)
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await hasFocus(/^Requeue stalled/)
    }
    // The menu that led to it is gone by then: its button has the focus.
    await w.call('PUT', '/agents/dev-1', { adapterType: 'simulated', adapterConfig: { steps: [] } })
    await page.goto(address('/agents/dev-1'))
    await page.getByRole('button', { name: 'More actions' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: /…$/ }).last().press('Enter')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await hasFocus(/^More actions$/)
  })

  test('a reason has as many lines as it needs, and Ctrl Enter sends it', async () => {
    const w = await workspace()
    const task = await w.make({ title: 'one' })
    const { page } = await openPage(w, '/board')
    await page.getByRole('link', { name: 'one' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('Delete')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox').waitFor()
    await page.keyboard.type('Not needed.')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Really.')
    await page.keyboard.press('Control+Enter')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(async () => (await w.read(task)).state).toBe('cancelled')
    const told = (await w.events()).find(({ type }: Json) => type === 'task_cancelled')
    expect(told.payload.reason).toBe('Not needed.\nReally.')
  })
})
