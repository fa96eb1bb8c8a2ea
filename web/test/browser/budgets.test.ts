import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { FULL_AUTO, makeMission, showMission, tasksByTitle } from '../../../test/support/http-missions.ts'
import type { Task, Workspace } from '../../../test/support/http-workspace.ts'
import { until } from '../../../test/support/nodes.ts'

/** What people do about money: set limits, stop, raise, move, allow. */

const { isHere, workspace, openPage } = useBrowser()

/** An item takes answers only 300 ms after it was shown, by the clock of the page. */
const settled = (page: Page) =>
  page.evaluate(`new Promise((settle) => requestAnimationFrame(() => setTimeout(settle, 350)))`)

const MODEL = 'claude-sonnet-4-5'

/** What an agent that Baton does not run tells of its claim so far. */
const uses = (w: Workspace, task: Task, costUsd: string | null, model = MODEL) =>
  w.on(task, 'usage', {
    ...{ session: 's-alpha', generation: 1 },
    usage: { model, inputTokens: 9_000, outputTokens: 1_000, ...(costUsd !== null && { costUsd }) },
  })

test.skipIf(!isHere)(
  'a budget is set, spent, asked about in the inbox and raised, and work goes on',
  async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/budgets')
    await page.getByText('Nothing limits spending here').waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Limit in dollars').fill('1')
    await dialog.getByLabel('Period').selectOption('none')
    await dialog.getByRole('button', { name: 'Set budget' }).click()
    const bar = page.getByRole('progressbar', { name: 'Used of The workspace in all' })
    await bar.waitFor()

    const task = await w.held()
    expect((await uses(w, task, '0.0138')).status).toBe(200)
    await expect.poll(() => bar.getAttribute('aria-valuetext')).toMatch(/^1\.4 ¢ used, .*of \$1\.00$/)
    await uses(w, task, '1.2')
    await page.getByText('Spent', { exact: true }).waitFor()
    const refused = await w.claim(await w.make())
    expect([refused.status, refused.body.code]).toEqual([409, 'BUDGET_STOPPED'])

    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('button', { name: /^Budget of the workspace is spent/ }).click()
    await page.getByLabel('New limit in dollars').fill('5')
    await settled(page)
    await page.getByRole('button', { name: 'Raise and continue' }).click()
    await page.getByText(/^Budget raised: Budget of the workspace/).waitFor()
    await expect.poll(async () => (await w.claim(await w.make(), 'beta')).body.reason).toBe('GRANTED')
    await page.keyboard.press('g')
    await page.keyboard.press('$')
    await expect.poll(() => bar.getAttribute('aria-valuetext')).toMatch(/of \$5\.00$/)
  },
)

test.skipIf(!isHere)('a part of a budget is moved to another one', async () => {
  const w = await workspace()
  for (const slug of ['shop', 'docs']) await w.post('/projects', { slug, name: slug })
  const set = async (scopeId: string, maxUsd: string) =>
    expect((await w.post('/budgets', { scope: 'project', scopeId, maxUsd })).status).toBe(201)
  await set('shop', '10')
  await set('docs', '2')
  const { page } = await openPage(w, '/budgets')
  await page.getByRole('button', { name: 'More: shop, in all' }).click()
  await page.getByRole('menuitem', { name: 'Move a part to another budget…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Dollars to move').fill('10.50')
  const move = dialog.getByRole('button', { name: 'Move', exact: true })
  expect(await move.getAttribute('aria-disabled')).toBe('true')
  await dialog.getByLabel('Dollars to move').fill('3.25')
  await move.click()
  const limit = (name: string) =>
    page.getByRole('progressbar', { name: `Used of ${name} in all` }).getAttribute('aria-valuetext')
  await expect.poll(() => limit('docs')).toBe('$0.00 used, of $5.25')
  expect(await limit('shop')).toBe('$0.00 used, of $6.75')
})

test.skipIf(!isHere)('all spending is stopped once it is asked for, and allowed again', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/budgets')
  await page.getByRole('button', { name: 'Stop all spending' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Stop all spending' }).click()
  await page.getByText('stopped all spending.').waitFor()
  const task = await w.make()
  expect((await w.claim(task)).body.code).toBe('BUDGET_STOPPED')
  await page.getByRole('button', { name: 'Allow spending again' }).click()
  // It had no limit, so nothing is left of it.
  await page.getByText('Nothing limits spending here').waitFor()
  expect((await w.claim(task)).body.reason).toBe('GRANTED')
})

test.skipIf(!isHere)('a model without a price stops, and works on once it is allowed', async () => {
  const w = await workspace()
  expect((await w.post('/budgets', { scope: 'workspace', maxUsd: '9' })).status).toBe(201)
  const { page } = await openPage(w, '/budgets')
  await uses(w, await w.held(), null, 'kestrel-9')
  await page.getByText('Unknown price', { exact: true }).waitFor()
  await page.getByText('kestrel-9 has no price: allow it, or set its price.').waitFor()
  await page.getByRole('button', { name: /^Allow kestrel-9/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Allow the model' }).click()
  await page.getByText('Unknown price', { exact: true }).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'No period' }).click()
  await page.getByText('Allowed without a price: kestrel-9.').waitFor()
})

test.skipIf(!isHere)('what was used is shown by agent and model, unknown cost is not 0', async () => {
  const w = await workspace()
  await uses(w, await w.held(), '2.5')
  const second = await w.make()
  await w.claim(second, 'beta')
  await w.on(second, 'usage', {
    ...{ session: 's-beta', generation: 1 },
    usage: { model: 'kestrel-9', inputTokens: 70, outputTokens: 7 },
  })
  const { page } = await openPage(w, '/budgets?by=model')
  const table = page.getByRole('table', { name: 'What was used by model' })
  const cells = (name: string) =>
    table.getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts()
  expect(await cells(MODEL)).toEqual(['$2.50', '9 k', '0', '1 k', '1'])
  expect(await cells('kestrel-9')).toEqual(['unknown', '70', '0', '7', '1'])
  await page.getByText('and unknown for 1 of 2 runs').waitFor()
  await page.keyboard.press('v')
  await expect.poll(() => page.url()).toContain('by=taskType')
  const file = page.waitForEvent('download')
  await page.getByRole('button', { name: /as CSV$/ }).click()
  expect((await file).suggestedFilename()).toBe('usage-by-taskType.csv')
})

test.skipIf(!isHere)('a price is set for the workspace, and the one of the list counts again', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/settings/prices')
  await page.getByRole('button', { name: 'Set a price' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Model').fill('kestrel-9')
  await dialog.getByLabel('Input', { exact: true }).fill('2.5')
  await dialog.getByLabel('Output').fill('10')
  await dialog.getByRole('button', { name: 'Set price' }).click()
  const row = page.getByRole('row').filter({ hasText: 'kestrel-9' })
  await row.getByText('yours').waitFor()
  expect(await row.getByRole('cell').first().innerText()).toBe('$2.5')
  await row.getByRole('button', { name: 'Remove my price of kestrel-9' }).click()
  await dialog.getByRole('button', { name: 'Remove my price' }).click()
  await row.waitFor({ state: 'detached' })
})

test.skipIf(!isHere)(
  'models are named for small and large tasks, and one that is none is refused where it is written',
  async () => {
    const w = await workspace()
    const { page, expected } = await openPage(w, '/settings/models')
    expected.push(/status of 400/)
    const name = page.getByRole('button', { name: 'Name the models of Claude Code' })
    await name.click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Small tasks').fill('haiku')
    await dialog.getByLabel('Large tasks').fill('-x')
    await dialog.getByRole('button', { name: 'Save models' }).click()
    await dialog.getByText(/is no model that claude_local takes/).waitFor()
    await dialog.getByLabel('Large tasks').fill('opus')
    await dialog.getByRole('button', { name: 'Save models' }).click()
    const row = page.getByRole('listitem').filter({ has: name })
    await row.getByText('opus', { exact: true }).waitFor()
    expect(await row.getByRole('definition').allInnerTexts()).toEqual(['haiku', 'the agent’s own', 'opus'])
    expect((await w.call('GET', '/model-tiers')).body.items).toEqual([
      { adapterType: 'claude_local', small: 'haiku', medium: null, large: 'opus' },
    ])
  },
)

test.skipIf(!isHere)('a part of the budget of the workspace is moved to a mission', async () => {
  const w = await workspace()
  expect((await w.post('/budgets', { scope: 'workspace', maxUsd: '10' })).status).toBe(201)
  const config = { budget: { maxUsd: '2' } }
  await makeMission(w, [{ tempId: 'a', title: 'a' }], { title: 'Move billing', config })
  const { page } = await openPage(w, '/budgets')
  await page.getByRole('button', { name: 'More: The workspace, in all' }).click()
  await page.getByRole('menuitem', { name: 'Move a part to another budget…' }).click()
  const dialog = page.getByRole('dialog')
  const to = dialog.getByLabel('To the budget of').locator('option:checked')
  expect(await to.innerText()).toBe('mission Move billing (no period), $2.00 left')
  await dialog.getByLabel('Dollars to move').fill('3')
  await dialog.getByRole('button', { name: 'Move', exact: true }).click()
  const bar = page.getByRole('progressbar', { name: 'Used of Move billing in all' })
  await expect.poll(() => bar.getAttribute('aria-valuetext')).toBe('$0.00 used, of $5.00')
})

test.skipIf(!isHere)('a project is made with a budget, which its page shows and raises', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/projects')
  await page
    .getByRole('button', { name: /^New project/ })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('Shop')
  await dialog.getByLabel('Budget in dollars').fill('4')
  await dialog.getByLabel('Period').selectOption('week')
  await dialog.getByRole('button', { name: 'Create project' }).click()
  const bar = page.getByRole('progressbar', { name: 'Used of Shop a week' })
  await bar.waitFor()
  await page.getByRole('button', { name: 'Raise: Shop, a week' }).click()
  await dialog.getByRole('button', { name: 'Double' }).click()
  await dialog.getByRole('button', { name: 'Raise', exact: true }).click()
  await expect.poll(() => bar.getAttribute('aria-valuetext')).toBe('$0.00 used, of $8.00')
})

test.skipIf(!isHere)(
  'the overview shows the budgets of the workspace, and nothing where there is none',
  async () => {
    const w = await workspace()
    await w.make()
    const opened = await openPage(w, '/')
    const { page } = opened
    const budgets = page.getByRole('list', { name: 'Budgets of the workspace' })
    await page.getByRole('heading', { name: 'Running now' }).waitFor()
    expect(await budgets.count()).toBe(0)
    expect((await w.post('/budgets', { scope: 'workspace', period: 'week', maxUsd: '50' })).status).toBe(201)
    expect((await uses(w, await w.held(), '18.2')).status).toBe(200)
    const bar = budgets.getByRole('progressbar', { name: 'Used of the workspace a week' })
    await expect.poll(() => bar.getAttribute('aria-valuetext')).toMatch(/^\$18\.20 used, .*of \$50\.00$/)
    await budgets.getByText('an hour').waitFor()
    expect(await budgets.innerText()).toMatch(/\$18\.20.* of \$50\.00 a week/)
    await budgets.getByRole('link', { name: 'Budget of the workspace, Each week' }).click()
    await page.getByRole('complementary', { name: 'Budget of the workspace' }).waitFor()
  },
)

test.skipIf(!isHere)('money of simulated agents is marked wherever it is shown', async () => {
  const w = await workspace()
  const steps = [{ result: { done: true }, summary: 'Done.' }]
  await w.call('PUT', '/agents/actor', { adapterType: 'simulated', adapterConfig: { steps, costUsd: '0.3' } })
  const config = { ...FULL_AUTO, budget: { maxUsd: '5' } }
  const mission = await makeMission(w, [{ tempId: 'a', title: 'a', agent: 'actor' }], { config })
  const { a: task } = await tasksByTitle(w, mission)
  await until(async () => (await showMission(w, mission)).costUsd === '0.3')
  const { items } = (await w.call('GET', '/runs')).body
  const opened = await openPage(w, '/')
  const { page } = opened
  const main = page.getByRole('main')
  const marked = /\$0\.30\s+sim|sim\. \$0\.30/
  const amounts = async (text: RegExp) => (await main.innerText()).match(text)?.length ?? 0
  const places = ['/', '/board', '/board?view=list', '/missions', `/missions/${mission.id}`, '/budgets']
  const things = [`/tasks/${task!.id}`, '/runs', `/runs/${items[0].id}`, '/agents/actor']
  for (const path of [...places, ...things]) {
    await opened.goto(path)
    await main.getByText(marked).first().waitFor()
    expect(await amounts(/\$0\.30/g), path).toBe(await amounts(new RegExp(marked, 'g')))
  }
})
