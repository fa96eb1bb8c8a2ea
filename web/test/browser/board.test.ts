import { readFileSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { inState } from '../../../test/support/http-workspace.ts'

const { workspace, openPage, prepare } = useBrowser()

const column = ({ page }: OpenedPage, name: string) =>
  page.getByRole('region', { name: new RegExp(`^${name}, `) })

const first = { session: 's-alpha', generation: 1 }

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
    await column(opened, 'To do').getByRole('link', { name: 'Fix the login form' }).waitFor()
    await page.getByText('1 task', { exact: true }).waitFor()
    await w.post(`/tasks/${task.id}/cancel`)
    await column(opened, 'Done').getByRole('link', { name: 'Fix the login form' }).waitFor()
    await page.getByRole('region', { name: 'Done, 0, 1 cancelled' }).waitFor()
    await page.getByRole('region', { name: 'To do, 0' }).waitFor()
    await page.reload()
    await page.getByText('1 task', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Remove filter tag' }).click()
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

  test('is filtered by several values and by what is not wanted, at once, and the address says so', async () => {
    const w = await workspace()
    const tasks = new Map<string, { id: string }>()
    for (const [title, tags] of [
      ['Fix the form', ['web']],
      ['Write the docs', ['docs']],
      ['Old idea', ['docs']],
    ] as const)
      tasks.set(title, await w.make({ title, tags }))
    await w.post(`/tasks/${tasks.get('Old idea')!.id}/cancel`)
    const opened = await openPage(w, '/board')
    const { page } = opened
    const search = () => decodeURIComponent(new URL(page.url()).search)
    await page.getByRole('link', { name: '1 cancelled' }).click()
    await page.getByText('1 task', { exact: true }).waitFor()
    expect(search()).toBe('?state=cancelled')
    await page.getByRole('button', { name: 'Remove filter state' }).click()
    await page.getByText('3 tasks', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Filter', exact: true }).click()
    const filters = page.getByRole('dialog', { name: 'Filters' })
    await filters.getByRole('button', { name: 'Not Cancelled' }).click()
    await filters.getByRole('button', { name: /^Tag/ }).click()
    // Tags that tasks have are offered.
    for (const tag of ['docs', 'web']) await filters.getByRole('checkbox', { name: tag }).click()
    await page.getByText('2 tasks', { exact: true }).waitFor()
    expect(search()).toBe('?state=!cancelled&tag=docs,web')
    expect(await axe(page)).toEqual([])
    await filters.getByRole('button', { name: 'Not web' }).click()
    await page.getByText('1 task', { exact: true }).waitFor()
    await page.getByText('tag: docs, not web').waitFor()
    await column(opened, 'To do').getByRole('link', { name: 'Write the docs' }).waitFor()
  })

  test('says on its cards why nobody takes a task, why one failed, and what one came to', async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/dev-1', { name: 'dev-1', adapterType: 'external' })
    const path = '/srv/tools/worker.sh'
    const failure = `${path} exited with code 1: throw err\n\nError: Cannot find module './missing.js'\n    at load`
    const [done, failed, waiting] = [await w.held(), await w.held(), await w.make({ agent: 'dev-1' })]
    await w.on(done, 'submit', { ...first, result: 1, summary: 'Adds **the form**.\n\nAll tests pass.' })
    await w.on(failed, 'fail', { ...first, failureClass: 'invalid', error: failure })
    const { page } = await openPage(w, '/board')
    const card = ({ id }: { id: string }) => page.locator(`[data-card="${id}"]`)
    await card(done).getByText('Adds the form. All tests pass.').waitFor()
    const cause = card(failed).getByText("Cannot find module './missing.js'", { exact: true })
    expect(await cause.getAttribute('title')).toContain(path)
    await card(waiting).getByText('Reserved for dev-1').waitFor()
    await w.post('/agents/dev-1/pause')
    await card(waiting).getByText('dev-1 is paused').waitFor()
    await w.post('/agents/dev-1/resume')
    await card(waiting).getByText('Reserved for dev-1').waitFor()
  })

  test('is grouped in lanes, kept with a name, and saved as the list shows it', async () => {
    const w = await workspace()
    await w.post('/projects', { slug: 'shop', name: 'The shop' })
    const formula = '=HYPERLINK("x","y")'
    await w.make({ title: formula, project: 'shop', priority: 9 })
    await w.make({ title: 'Write the docs' })
    const { page } = await openPage(w, '/board')
    await page.getByRole('button', { name: 'Display' }).click()
    await page.getByLabel('Group by').selectOption('Project')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'The shop 1' }).waitFor()
    await page.getByRole('button', { name: 'No project 1' }).click()
    await page.getByRole('link', { name: 'Write the docs' }).waitFor({ state: 'detached' })
    await page.keyboard.press('j')
    await page.locator('[data-card] a:focus').getByText(formula).waitFor()
    expect(await axe(page)).toEqual([])
    await page.getByText('List', { exact: true }).click()
    await page.getByRole('cell', { name: 'The shop 1' }).waitFor()
    await page.getByRole('button', { name: 'Views' }).click()
    await page.getByRole('menuitem', { name: 'Save this view' }).click()
    await page.getByLabel('Name').fill('By project')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'By project' }).click()
    await page.getByRole('menuitem', { name: 'Make it the default' }).click()
    await page.getByRole('button', { name: 'By project' }).click()
    await page.getByRole('menuitemcheckbox', { name: 'All tasks' }).click()
    await page.waitForURL((url) => url.search === '')
    await page.getByRole('link', { name: 'Runs' }).first().click()
    await page.getByRole('heading', { level: 1, name: 'Runs' }).waitFor()
    await page.getByRole('link', { name: 'Board' }).first().click()
    // Opened without anything in its address, it is the default view.
    await page.waitForURL((url) => url.search === '?view=list&group=project')
    await page.getByRole('button', { name: 'Display' }).click()
    await page.getByRole('checkbox', { name: 'Project' }).click()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Save as CSV' }).click()
    const file = readFileSync(await (await download).path(), 'utf8')
    const [head, ...rows] = file.split('\r\n')
    expect(head).toBe('\uFEFFNumber,State,Task,Now,Agent,Project,Priority,Attempt,Cost (USD),Since')
    expect(rows).toHaveLength(3)
    expect(rows[0]).toContain(`Queued,"'=HYPERLINK(""x"",""y"")",`)
    await page.getByText('2 tasks saved as tasks.csv.').waitFor()
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
    // The filters have a line of their own.
    await page.getByRole('button', { name: 'Remove filter tag' }).waitFor()
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
    await column(opened, 'To do').getByRole('link', { name: 'Write the docs' }).waitFor()
  })
})
