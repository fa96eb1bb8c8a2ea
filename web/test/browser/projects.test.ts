import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { fence, type Json } from '../../../test/support/http-workspace.ts'

/** Projects with their plans and tracks, and the workers that do their tasks. */

const { isHere, workspace, openPage } = useBrowser()

const WRONG = `project: the-shop
tracks:
  A:
    - id: A-001-schema
      colour: red
    - id: A-002-models
      depends_on: [A-009-gone]
`
const RIGHT = `project: the-shop
tracks:
  A:
    agents: 1
    purpose: The data
    tasks:
      - id: A-001-schema
      - id: A-002-models
`

test.skipIf(!isHere)(
  'a plan is imported once its problems are mended, and a full track says why nobody gets more of it',
  async () => {
    const w = await workspace()
    const opened = await openPage(w, '/projects')
    opened.expected.push(/422/)
    const { page } = opened
    await page.getByRole('button', { name: /^New project/ }).click()
    await page.getByLabel('Name', { exact: true }).fill('The Shop')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The Shop' }).waitFor()
    await page.keyboard.press('i')
    const dialog = page.getByRole('dialog')
    const text = dialog.getByRole('textbox', { name: 'Plan' })
    await text.fill(WRONG)
    await page.keyboard.press('Control+Enter')
    const problems = dialog.getByRole('region', { name: 'Problems of the plan' })
    await problems.getByText('2 problems, so nothing was created').waitFor()
    await problems.getByRole('button', { name: 'Line 5' }).click()
    const selected = await page.evaluate<string>(
      'document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)',
    )
    expect(selected.trim()).toBe('colour: red')
    expect(await axe(page)).toEqual([])
    await text.fill(RIGHT)
    await page.keyboard.press('Control+Enter')
    await page.getByText('The plan is imported: 2 tasks created.').waitFor()
    await page.getByRole('heading', { name: 'Track A · The data' }).waitFor()

    const { items } = (await w.call('GET', '/tasks?project=the-shop')).body
    const task = items.find(({ key }: Json) => key === 'A-001-schema')
    expect((await w.claim(task, 'alpha')).body.reason).toBe('GRANTED')
    await page
      .getByText('This track is full: alpha works on A-001, and it takes one agent at a time.')
      .waitFor()
    await page.getByRole('button', { name: 's-alpha' }).click()
    const panel = page.getByRole('complementary', { name: 's-alpha' })
    await panel.getByText('Taken').waitFor()
    await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 1 })
    await panel.getByText('Result accepted').waitFor()
    expect(await axe(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Edit track A' }).click()
    await page.getByLabel('Limit of agents').fill('3')
    await page.keyboard.press('Control+Enter')
    await page.getByText('1 of 2 done · 0 of 3 agents').waitFor()
  },
)

test.skipIf(!isHere)(
  'a worker is drained, and dead letters are retried: those that are chosen, then all',
  async () => {
    const w = await workspace()
    await w.post('/workers', { worker: 'worker-1', capacity: 2, heartbeatSeconds: 3_600 })
    const held = await w.make({ title: 'Port the API' })
    await w.claim(held, 'alpha', { session: 'worker-1' })
    const dead = ['Merge the branch', 'Check the invoices'].map(async (title) => {
      const task = await w.make({ title, maxRetries: 0 })
      await w.claim(task)
      await w.on(task, 'fail', {
        ...fence('s-alpha', 1),
        failureClass: 'quality',
        error: 'There is no such branch.',
      })
      return task
    })
    const [first, second] = await Promise.all(dead)
    const { page } = await openPage(w, '/workers')
    const workers = page.getByRole('table', { name: 'Workers' })
    await workers.getByText('1/2').waitFor()
    await workers.getByRole('link', { name: 'Port the API' }).waitFor()
    await page.getByRole('button', { name: 'Drain worker-1' }).click()
    await workers.getByText('Draining').waitFor()
    await page.getByRole('tab', { name: 'Dead letters' }).click()
    const table = page.getByRole('table', { name: 'Dead letters' })
    await table.getByText('There is no such branch. Its only attempt is spent.').first().waitFor()
    await table
      .getByRole('row', { name: /Merge the branch/ })
      .getByRole('checkbox')
      .check()
    await page.getByRole('button', { name: /^Retry 1 chosen/ }).click()
    await w.reaches(first!, 'queued')
    await table.getByText('Merge the branch').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Retry all' }).click()
    await page
      .getByRole('dialog')
      .getByRole('button', { name: /^Retry all/ })
      .click()
    await page.getByText('No dead letters').waitFor()
    await w.reaches(second!, 'queued')
  },
)
