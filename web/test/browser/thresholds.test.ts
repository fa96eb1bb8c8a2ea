import type { Locator, Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'
import { until } from '../../../test/support/nodes.ts'

/** What people do about the figures from which on alerts are raised. */

const { isHere, workspace, openPage } = useBrowser()

const rowOf = (page: Page, title: string) =>
  page.getByRole('table', { name: 'Thresholds of alerts' }).getByRole('row').filter({ hasText: title })
/** Raised above, default, state. */
const cellsOf = async (row: Locator) =>
  (await row.getByRole('cell').allInnerTexts()).slice(0, 3).map((text) => text.replace(/\s+/g, ' ').trim())
const inState = async (w: Workspace, state: string) =>
  (await w.call('GET', `/alerts?state=${state}`)).body.items.map(({ cause }: Json) => cause)

describe.skipIf(!isHere)('the threshold of an alert', () => {
  test('is changed, raises an alert, and goes back to the default', async () => {
    const w = await workspace()
    await w.make()
    await w.make()
    const { page } = await openPage(w, '/settings/alerts')
    const row = rowOf(page, 'Many tasks wait for assignment')
    await row.waitFor()
    expect(await cellsOf(row)).toEqual(['50', '50 off', 'off'])
    await row.getByRole('button', { name: /^Change/ }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Raised above').fill('1')
    await dialog.getByRole('switch', { name: 'Raise an alert' }).click()
    await dialog.getByRole('button', { name: 'Save threshold' }).click()
    await row.getByText('yours').waitFor()
    expect(await cellsOf(row)).toEqual(['1', '50 off', 'on'])
    expect(await until(async () => (await inState(w, 'open'))[0])).toBe('pending_tasks')
    await row.getByRole('button', { name: /^Back to the default/ }).click()
    await row.getByText('yours').waitFor({ state: 'detached' })
    expect(await cellsOf(row)).toEqual(['50', '50 off', 'off'])
    expect(await until(async () => (await inState(w, 'resolved'))[0])).toBe('pending_tasks')
  })

  test('that is wrong is refused at its field, and what was written outlives Esc', async () => {
    const w = await workspace()
    const opened = await openPage(w, '/settings/alerts')
    opened.expected.push(/400/)
    const { page } = opened
    const change = rowOf(page, 'Many tasks fail').getByRole('button', { name: /^Change/ })
    await change.click()
    const dialog = page.getByRole('dialog')
    const value = dialog.getByLabel('Raised above')
    const save = dialog.getByRole('button', { name: 'Save threshold' })
    expect(await save.getAttribute('aria-disabled')).toBe('true')
    await value.fill('-1')
    await dialog.getByText('Write a whole number, 0 or more.').waitFor()
    await value.fill('2000000000')
    await save.click()
    await dialog.getByRole('alert').getByText('It must be at most 1,000,000,000.').waitFor()
    expect(await value.getAttribute('aria-invalid')).toBe('true')
    await value.fill('25')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await change.click()
    expect(await value.inputValue()).toBe('25')
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await change.click()
    expect(await value.inputValue()).toBe('10')
  })

  test('follows what somebody else sets, also in an open form, which keeps what is written', async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/settings/alerts')
    const row = rowOf(page, 'A task has waited in the queue for too long')
    await row.waitFor()
    expect(await cellsOf(row)).toEqual(['14,400 4 h', '14,400 4 h', 'on'])
    await row.getByRole('button', { name: /^Change/ }).click()
    const dialog = page.getByRole('dialog')
    const value = dialog.getByLabel('Raised above')
    await dialog.getByRole('switch', { name: 'Raise an alert' }).click()
    expect((await w.call('PUT', '/thresholds/queue_age', { value: 60 })).status).toBe(200)
    await expect.poll(() => value.inputValue()).toBe('60')
    await dialog.getByRole('button', { name: 'Save threshold' }).click()
    await expect.poll(() => cellsOf(row)).toEqual(['60 1 m', '14,400 4 h', 'off'])
    expect((await w.call('DELETE', '/thresholds/queue_age')).status).toBe(204)
    await expect.poll(() => cellsOf(row)).toEqual(['14,400 4 h', '14,400 4 h', 'on'])
  })
})
