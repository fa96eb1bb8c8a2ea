import { expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { fence } from '../../../test/support/http-workspace.ts'

/** The log as it is written, the overview by windows, the figures of a period, and the nodes. */

const { isHere, workspace, openPage, served } = useBrowser()

test.skipIf(!isHere)(
  'the log is filtered, follows what happens, and waits while it is scrolled',
  async () => {
    const w = await workspace()
    await w.post('/tasks/batch', { tasks: Array.from({ length: 60 }, (_, n) => ({ title: `Task ${n}` })) })
    const { page } = await openPage(w, '/events?type=task_*')
    const table = page.getByRole('table', { name: 'Events' })
    const rows = page.getByRole('rowgroup', { name: 'Events, rows' })
    await table.getByText('task_created', { exact: true }).first().waitFor()
    expect(await table.getByText('workspace_created').count()).toBe(0)
    await rows.evaluate((element) => element.scrollTo(0, 600))
    await w.make({ title: 'One more' })
    const newer = page.getByRole('button', { name: /newer$/ })
    await newer.click()
    await newer.waitFor({ state: 'detached' })
    expect(await rows.evaluate((element) => element.scrollTop)).toBe(0)
    await page.getByLabel('Type').fill('project_*')
    await page.keyboard.press('Enter')
    await page.getByText('No event matches.', { exact: false }).waitFor()
    await w.post('/projects', { slug: 'shop', name: 'Shop' })
    await table.getByText('The project shop was created.').waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page
      .getByRole('complementary', { name: /^Event / })
      .getByText('"project_created"')
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('complementary', { name: /^Event / }).waitFor({ state: 'detached' })
  },
)

test.skipIf(!isHere)('the log goes to a number, and back to its end', async () => {
  const w = await workspace()
  await w.make()
  const { page } = await openPage(w, '/events')
  await page.getByRole('button', { name: /^Go to/ }).click()
  await page.getByRole('dialog').getByLabel('Number or time').fill('2')
  await page.keyboard.press('Enter')
  await page.waitForURL(/at=2/)
  const numbers = page.getByRole('button', { name: /^Open event/ })
  await expect.poll(() => numbers.allInnerTexts()).toEqual(['2', '1'])
  await page.getByRole('button', { name: 'Back to the newest' }).click()
  await expect.poll(async () => (await numbers.allInnerTexts()).length).toBeGreaterThan(2)
})

test.skipIf(!isHere)(
  'the overview shows what ended, by windows; Insight leads from a cause to its task',
  async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Fetch the prices', taskType: 'coding', maxRetries: 0 })
    await w.on(task, 'fail', { ...fence('s-alpha', 1), failureClass: 'quality', error: 'The sum is wrong.' })
    const opened = await openPage(w, '/')
    const { page } = opened
    const ended = page.getByRole('list', { name: 'Tasks that ended last' })
    await ended.getByText('The sum is wrong.').waitFor()
    await page.getByText('30 d', { exact: true }).click()
    await page.getByText('Work in the last 30 days').waitFor()
    expect(page.url()).toContain('window=30d')
    await opened.goto('/insight?window=7d')
    const failures = page.getByRole('region', { name: 'Why work failed' })
    await failures.getByRole('button', { name: 'Table of Why work failed' }).click()
    await failures.getByRole('table').getByRole('cell', { name: '0 (0 %)' }).waitFor()
    await failures.getByRole('button', { name: 'Chart of Why work failed' }).click()
    const cause = failures.getByRole('link', { name: /The work was not good enough/ })
    const panel = page.getByRole('complementary', { name: 'The work was not good enough' })
    await cause.click()
    await panel.waitFor()
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
    await cause.click()
    await panel.getByRole('link', { name: /Fetch the prices/ }).click()
    await page.waitForURL(/\/tasks\//)
    await page.getByRole('heading', { level: 1 }).getByText('Fetch the prices').waitFor()
  },
)

test.skipIf(!isHere)('who runs the server sees its nodes, and recovers after a question', async () => {
  const { page } = await openPage({ ownerKey: served().ownerKey }, '/nodes')
  await page
    .getByRole('list', { name: 'Nodes' })
    .getByText(/^leader, term/)
    .waitFor()
  await page.getByRole('button', { name: 'Recover now' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Recover now' }).click()
  await page.getByText('Recovered in all workspaces.').waitFor()
})
