import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { makeMission } from '../../../test/support/http-missions.ts'
import { fence, inState, type Workspace } from '../../../test/support/http-workspace.ts'

/** Items are answered by keyboard, for what was seen and for nothing else. */

const { isHere, workspace, openPage } = useBrowser()

const proposed = (w: Workspace, title: string) =>
  makeMission(w, [{ tempId: 'a', title: 'First' }], { goal: title, title, config: {} })

const stateOf = async (w: Workspace, path: string) => (await w.call('GET', path)).body.state

/** An item takes answers only 300 ms after it was shown, by the clock of the page. */
const settled = (page: Page) =>
  page.evaluate(`new Promise((settle) => requestAnimationFrame(() => setTimeout(settle, 350)))`)

describe.skipIf(!isHere)('the inbox', () => {
  test('empties with the keyboard alone, and the title of the tab counts down', async () => {
    const w = await workspace()
    const mission = await proposed(w, 'Migrate billing')
    const task = await inState.awaiting_human(w)
    const { page } = await openPage(w, '/inbox?sort=oldest')
    await page.getByRole('button', { name: 'Approve', exact: false }).first().waitFor()
    expect(await page.title()).toContain('(2)')
    await page.getByRole('article').getByText('Approve the plan: Migrate billing').waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await expect.poll(() => stateOf(w, `/missions/${mission.id}`)).toBe('running')
    await page.getByRole('article').getByText('Review the result').waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('Nothing is waiting for you').waitFor()
    await expect.poll(() => stateOf(w, `/tasks/${task.id}`)).toBe('completed')
    await expect.poll(() => page.title()).not.toContain('(')
  })

  test('zoomed to 200 %, does not cover what is asked with its answers', async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Build the pages' })
    const ask = { ...fence('s-alpha', 1), question: 'Which colour?', options: ['green', 'blue', 'red'] }
    expect((await w.on(task, 'ask', ask)).status).toBe(200)
    const opened = await openPage(w, '/inbox')
    const { page } = opened
    await page.setViewportSize({ width: 640, height: 400 })
    const bottomOf = async (text: string) => {
      const box = (await page.getByRole('article').getByText(text, { exact: true }).boundingBox())!
      return box.y + box.height
    }
    await expect
      .poll(async () => (await bottomOf('Which colour?')) < (await bottomOf('Your answer')))
      .toBe(true)
    expect(await opened.overflow()).toBe(0)
  })

  test('keeps no answer that is given without a network', async () => {
    const w = await workspace()
    const mission = await proposed(w, 'Migrate billing')
    const { page, calls, expected } = await openPage(w, '/inbox')
    expected.push(/WebSocket|ERR_/)
    const pill = page.locator('header [role="status"]')
    await page.getByRole('article').waitFor()
    await page.context().setOffline(true)
    await pill.getByText(/^offline/).waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('Nothing was sent').waitFor()
    await page.context().setOffline(false)
    await pill.getByText(/^live/).waitFor()
    await page.getByRole('article').getByText('Approve the plan: Migrate billing').waitFor()
    expect(await stateOf(w, `/missions/${mission.id}`)).toBe('awaiting_approval')
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('Nothing is waiting for you').waitFor()
    expect(calls.filter((call) => call.startsWith('POST /inbox/'))).toHaveLength(1)
  })

  test('does not answer an item that changed while it was read', async () => {
    const w = await workspace()
    const mission = await proposed(w, 'Migrate billing')
    const opened = await openPage(w, '/inbox')
    // The refused answer; and, if the event of the new plan comes first, the item on the page, which no longer exists.
    opened.expected.push(/409/, /404 .*\/inbox\/plan/)
    const { page } = opened
    await page.getByRole('article').waitFor()
    // The answer is on its way while the plan changes.
    await page.route('**/api/v1/inbox/*/answer', async (route) => {
      const plan = { tasks: [{ tempId: 'a', title: 'Another' }] }
      expect((await w.call('PUT', `/missions/${mission.id}/plan`, plan)).status).toBe(200)
      await route.continue()
    })
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('It changed while you were reading').waitFor()
    await page.getByText('Since version 1').waitFor()
    expect(await stateOf(w, `/missions/${mission.id}`)).toBe('awaiting_approval')
  })
})

test.skipIf(!isHere)('a mission is approved on its page as the version that is shown', async () => {
  const w = await workspace()
  const mission = await proposed(w, 'Migrate billing')
  const { page } = await openPage(w, `/missions/${mission.id}`)
  await page.getByRole('button', { name: 'Approve version 1' }).click()
  await expect.poll(() => stateOf(w, `/missions/${mission.id}`)).toBe('running')
  await page.getByText('Version 1 of the plan is waiting for you').waitFor({ state: 'detached' })
})
