import { describe, expect, onTestFinished, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { inState } from '../../../test/support/http-workspace.ts'

const { workspace, openPage, prepare } = useBrowser()

const column = ({ page }: OpenedPage, name: string) =>
  page.getByRole('region', { name: new RegExp(`^${name}, `) })

/** Messages leave by themselves: on a busy machine before a test looks. */
const COLLECT_TOLD = `window.told = new Set()
  new MutationObserver(() => {
    for (const one of document.querySelectorAll('[aria-label="Messages"] *'))
      if (one.childElementCount === 0 && /address/.test(one.textContent)) window.told.add(one.textContent)
  }).observe(document, { childList: true, subtree: true })`

describe('the board', () => {
  test('follows what happens elsewhere, and counts it within the filter of its address', async () => {
    const w = await workspace()
    const task = await w.make({ title: 'Fix the login form', tags: ['web'] })
    await w.make({ title: 'Write the docs', tags: ['docs'] })
    const opened = await openPage(w, '/board?tag=web')
    const { page } = opened
    await column(opened, 'Inbox').getByRole('link', { name: 'Fix the login form' }).waitFor()
    await page.getByText('1 task', { exact: true }).waitFor()
    await w.post(`/tasks/${task.id}/cancel`)
    await column(opened, 'Done').getByRole('link', { name: 'Fix the login form' }).waitFor()
    await page.getByRole('region', { name: 'Done, 1' }).waitFor()
    await page.getByRole('region', { name: 'Inbox, 0' }).waitFor()
    await page.reload()
    await page.getByText('1 task', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove filter' }).click()
    await page.getByText('2 tasks', { exact: true }).waitFor()
    expect(new URL(page.url()).search).toBe('')
  })

  test('is worked with the keyboard: several are selected, paused and resumed again', async () => {
    const w = await workspace()
    const tasks = [await w.make({ title: 'First' }), await w.make({ title: 'Second' })]
    const { page } = await openPage(w, '/board')
    for (const key of ['j', 'x', 'j', 'Shift+X']) await page.keyboard.press(key)
    await page.getByText('2 selected').waitFor()
    await page.keyboard.press('p')
    // Offered once both are paused, for some seconds.
    await page.getByRole('button', { name: 'Undo' }).click()
    await w.happens('task_paused', 2)
    for (const task of tasks) await w.reaches(task, 'queued')
    await page.keyboard.press('Escape')
    await page.keyboard.press('Enter')
    await page.getByRole('complementary', { name: /^#/ }).waitFor()
    expect(await axe(page)).toEqual([])
    await page.keyboard.press('9')
    await expect.poll(async () => (await w.read(tasks[1]!)).priority).toBe(9)
  })

  test('takes a drop only where it is allowed: a result is approved in Done', async () => {
    const w = await workspace()
    const task = await inState.awaiting_human(w)
    const opened = await openPage(w, '/board')
    const { page } = opened
    const card = page.locator(`[data-card="${task.id}"]`)
    await card.dragTo(column(opened, 'In progress'))
    expect((await w.read(task)).state).toBe('awaiting_human')
    await card.dragTo(column(opened, 'Done'))
    await page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click()
    await w.reaches(task, 'completed')
    await column(opened, 'Done').locator(`[data-card="${task.id}"]`).waitFor()
  })

  test('as a list is sorted by a column, in the address, and [ and ] walk through it', async () => {
    const w = await workspace()
    for (const [title, priority] of [
      ['Low', 2],
      ['High', 9],
      ['Middle', 5],
    ] as const)
      await w.make({ title, priority })
    const { page } = await openPage(w, '/board?view=list&sort=task')
    const rows = page.getByRole('table', { name: 'Tasks' }).getByRole('row')
    const order = async () =>
      (await rows.allInnerTexts()).slice(1).map((text) => /High|Low|Middle/.exec(text)?.[0])
    await expect.poll(order).toEqual(['High', 'Low', 'Middle'])
    await page.getByRole('button', { name: 'Priority' }).click()
    await page.getByText('Sorted by priority.').waitFor()
    expect(await axe(page)).toEqual([])
    expect(new URL(page.url()).searchParams.get('sort')).toBe('-priority')
    await expect.poll(order).toEqual(['High', 'Middle', 'Low'])
    await page.getByRole('link', { name: /High/ }).click()
    await page.getByRole('button', { name: 'Open as a page' }).click()
    const heading = page.getByRole('heading', { level: 1 })
    await heading.getByText('High').waitFor()
    await page.keyboard.press(']')
    await heading.getByText('Middle').waitFor()
    await page.keyboard.press('[')
    await heading.getByText('High').waitFor()
  })

  test('beside the panel keeps its names, and its head in one line', async () => {
    const w = await workspace()
    await w.make({ title: 'Write the docs of all endpoints and errors', tags: ['docs'] })
    const { page } = await openPage(w, '/board?view=list&tag=docs')
    const name = page.getByRole('cell', { name: /Write the docs/ })
    const widthOf = async () => (await name.boundingBox())!.width
    const head = page.locator('main header').first()
    const line = (await head.boundingBox())!.height
    const table = page.getByRole('table', { name: 'Tasks' })
    await table.getByRole('columnheader', { name: 'Attempt' }).waitFor()
    // The panel leaves half of the room: a row has two lines then, and the first has the name.
    await name.getByRole('link').click()
    await page.getByRole('complementary', { name: /^#/ }).waitFor()
    expect(await widthOf()).toBeGreaterThanOrEqual(200)
    expect((await head.boundingBox())!.height).toBe(line)
    await page.getByRole('button', { name: /^Filter.*1$/ }).waitFor()
    await page.keyboard.press('Escape')
    // Less room without a panel: columns go, the name stays.
    await page.setViewportSize({ width: 1_100, height: 700 })
    await table.getByRole('columnheader', { name: 'Attempt' }).waitFor({ state: 'detached' })
    await table.getByRole('columnheader', { name: 'Agent' }).waitFor()
    expect(await widthOf()).toBeGreaterThanOrEqual(200)
  })

  test('says what it does not know of an opened address, and nothing of that on a click', async () => {
    const w = await workspace()
    const task = await w.make({ title: 'Write the docs' })
    const opened = await prepare(w)
    onTestFinished(() => opened.close())
    const { page } = opened
    await page.addInitScript(COLLECT_TOLD)
    await opened.goto(`/board?task=${task.id}&colour=red`)
    const told = () => page.evaluate('[...window.told]')
    const ofTheOpened = ['Part of the address was ignored: colour.']
    await expect.poll(told).toEqual(ofTheOpened)
    // The board has a part that the next pages do not know.
    for (const name of ['Missions', 'Runs']) {
      await page.getByRole('link', { name }).first().click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await opened.atRest()
    }
    expect([await told(), opened.faults]).toEqual([ofTheOpened, []])
  })

  test('sorts all of a long list, not only what was on the screen', async () => {
    const w = await workspace()
    // More than the first page of a column; what sorts first was made last.
    const tasks = Array.from({ length: 130 }, (_, n) => ({ title: `Task ${String(999 - n)}` }))
    expect((await w.call('POST', '/tasks/batch', { tasks })).status).toBeLessThan(300)
    const { page, calls } = await openPage(w, '/board?view=list&sort=task')
    await page.getByText('Sorted by title.').waitFor()
    const rows = page.getByRole('table', { name: 'Tasks' }).getByRole('row')
    await expect.poll(async () => (await rows.allInnerTexts())[1]).toContain('Task 870')
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(5)
  })

  test('has a dialog for a new task that is no wider than a phone', async () => {
    const w = await workspace()
    await w.make({ title: 'Write the docs' })
    const { page } = await openPage(w, '/board?new=task', { phone: true })
    const box = (await page.getByRole('dialog').boundingBox())!
    expect([box.x, box.width]).toEqual([0, page.viewportSize()!.width])
  })

  test('creates tasks, and shows a refusal at its field', async () => {
    const w = await workspace()
    const opened = await openPage(w, '/board')
    const { page } = opened
    await page.getByRole('heading', { name: 'No tasks' }).waitFor()
    await page.keyboard.press('c')
    await page.keyboard.press('t')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Title').fill('Write the docs')
    await dialog.getByLabel('Retries').fill('1000')
    opened.expected.push(/400|422/)
    await page.keyboard.press('Control+Enter')
    await dialog.getByRole('alert').waitFor()
    expect(await axe(page)).toEqual([])
    await dialog.getByLabel('Retries').fill('1')
    await page.keyboard.press('Control+Enter')
    await column(opened, 'Inbox').getByRole('link', { name: 'Write the docs' }).waitFor()
  })
})
