import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { makeMission, showMission, tasksByTitle } from '../../../test/support/http-missions.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'

/** A plan is written, edited, approved and replanned by a person. */

const { isHere, workspace, openPage } = useBrowser()

const TASKS = [
  { tempId: 'map', title: 'List all callers' },
  { tempId: 'move', title: 'Move invoices', dependsOn: ['map'] },
]

const asked = (w: Workspace): Promise<Json> => makeMission(w, TASKS, { config: { autonomy: 'approve' } })

const row = (page: Page, name: RegExp) =>
  page.getByRole('region', { name: 'Plan editor' }).getByRole('button', { name })
const form = (page: Page, number: number) => page.getByRole('group', { name: `Task ${number}`, exact: true })
const yaml = (page: Page) => page.getByRole('textbox', { name: 'YAML' })
const textOf = (page: Page) => yaml(page).innerText()

describe.skipIf(!isHere)('the editor of a plan', () => {
  test('has one draft as outline and YAML, shows each problem in both, and saves what is approved then', async () => {
    const w = await workspace()
    expect((await w.call('PUT', '/agents/dev-1', { adapterType: 'external' })).status).toBe(201)
    const mission = await asked(w)
    const opened = await openPage(w, `/missions/${mission.id}?view=plan`)
    opened.expected.push(/422/)
    const { page } = opened
    await page.getByRole('button', { name: 'Edit the plan' }).click()
    // From the outline to the YAML.
    await row(page, /^2 ?Move invoices/).click()
    await form(page, 2).getByLabel('Description').fill('All of them.')
    await form(page, 2).getByLabel('Preferred agent').selectOption('dev-1')
    await expect.poll(() => textOf(page)).toContain('preferredAgent: dev-1')
    expect(await page.getByRole('button', { name: 'Approve version 1' }).count()).toBe(0)
    // From the YAML to the outline, with a problem at its row in both.
    const good = await textOf(page)
    await yaml(page).fill(good.replace('[ map ]', '[ map, nowhere ]'))
    await row(page, /^2 ?Move invoices.*1 problem/).waitFor()
    await form(page, 2).getByRole('alert').getByText('Dependency 2 is "nowhere"').waitFor()
    await page.locator('.cm-problem-words').getByText('Dependency 2 is "nowhere"').waitFor()
    expect(await axe(page)).toEqual([])
    // What cannot be read leaves the outline as it was.
    await yaml(page).fill('tasks: [')
    await page
      .getByRole('alert')
      .getByText(/^The YAML cannot be read from line 1/)
      .waitFor()
    await row(page, /^2 ?Move invoices/).waitFor()
    expect(await form(page, 2).getByLabel('Title').isDisabled()).toBe(true)
    await yaml(page).fill(good.replace('Move invoices', 'Move all invoices'))
    await row(page, /^2 ?Move all invoices.*dev-1 first · after 1$/).waitFor()
    await page.getByText('No problems').waitFor()
    await page.getByRole('button', { name: 'Save as version 2' }).click()
    await page.getByRole('table').getByText('dev-1 first').waitFor()
    await page.getByRole('button', { name: 'Approve version 2' }).click()
    await expect.poll(async () => (await showMission(w, mission)).approvedVersion).toBe(2)
    const task = (await tasksByTitle(w, mission))['Move all invoices']!
    expect((await w.call('GET', `/tasks/${task.id}`)).body).toMatchObject({
      description: 'All of them.',
      preferredAgent: 'dev-1',
    })
  })

  test('is worked by the keyboard, keeps its draft, and says what changed meanwhile', async () => {
    const w = await workspace()
    const mission = await asked(w)
    const { page } = await openPage(w, `/missions/${mission.id}?view=plan&edit=1`)
    await row(page, /^1 ?List all callers/).focus()
    await page.keyboard.press('ArrowDown')
    await form(page, 2).waitFor()
    await page.keyboard.press('d')
    await form(page, 3).getByLabel('Title').fill('Tell everybody')
    await form(page, 3).getByLabel('Waits for').fill('2')
    await page.keyboard.press('Enter')
    await form(page, 3).getByText('2 Move invoices', { exact: true }).waitFor()
    await row(page, /^1 ?List all callers/).focus()
    await page.keyboard.press('Delete')
    await page.getByText('2 tasks wait for it, and will not any more').waitFor()
    await page.keyboard.press('Escape')
    await page.reload()
    await row(page, /^3 ?Tell everybody.*after 1, 2$/).waitFor()
    // Elsewhere it is approved only on purpose, and the way back to the edit is there.
    for (const place of ['Inbox', 'Overview']) {
      await page
        .getByRole('navigation')
        .getByRole('link', { name: new RegExp(`^${place}`) })
        .first()
        .click()
      const dialog = page.getByRole('dialog')
      // The inbox answers nothing in the moment in which an item appears.
      await expect
        .poll(async () => {
          if (!(await dialog.isVisible())) await page.keyboard.press('a')
          return dialog.isVisible()
        })
        .toBe(true)
      await dialog.getByText('You have an unsaved edit of this plan').waitFor()
      expect(await dialog.getByRole('button', { name: 'Approve without my edit' }).count()).toBe(1)
      await dialog.getByRole('link', { name: 'Open your edit' }).click()
      await row(page, /^3 ?Tell everybody.*after 1, 2$/).waitFor()
    }
    const other = { tasks: [{ tempId: 'map', title: 'List some callers' }, TASKS[1]] }
    expect((await w.call('PUT', `/missions/${mission.id}/plan`, other)).status).toBe(200)
    await page.getByText('title: List all callers → List some callers').waitFor()
    await row(page, /^3 ?Tell everybody/).waitFor()
    await page.keyboard.press('Control+Enter')
    await page.getByRole('button', { name: 'Approve version 3' }).waitFor()
    await page.getByRole('table').getByText('Tell everybody').waitFor()
  })

  test('proposes another plan of a mission that runs, shows what it changes, and adds a task beside it', async () => {
    const w = await workspace()
    const mission = await makeMission(w, TASKS)
    const { page } = await openPage(w, `/missions/${mission.id}`)
    await page.getByRole('button', { name: 'Change the plan' }).first().click()
    await row(page, /^2 ?Move invoices/).click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Add a task', exact: true }).last().click()
    await form(page, 2).getByLabel('Title').fill('Move orders')
    await form(page, 2).getByLabel('Waits for').fill('callers')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Save as version 2' }).click()
    const preview = page.getByRole('region', { name: 'What approval would change' })
    await preview.getByText('1 task cancelled').waitFor()
    await preview.getByText('Move invoices').first().waitFor()
    await preview.getByText('1 task added').waitFor()
    await preview.getByText('“Move orders” now waits for “List all callers”').waitFor()
    expect(await axe(page)).toEqual([])
    await page.getByRole('button', { name: 'Approve version 2' }).click()
    await expect.poll(async () => (await showMission(w, mission)).approvedVersion).toBe(2)
    await page.getByRole('button', { name: 'Add a task', exact: true }).first().click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Title').fill('Tell everybody')
    await dialog.getByLabel('Waits for').fill('orders')
    await page.keyboard.press('Enter')
    await dialog.getByText('Step 3, after “Move orders”').waitFor()
    expect(await axe(page)).toEqual([])
    await dialog.getByRole('button', { name: 'Add the task' }).click()
    await page.getByText('The task is added.').waitFor()
    expect((await tasksByTitle(w, mission))['Tell everybody']).toMatchObject({ missionId: mission.id })
  })
})

test.skipIf(!isHere)(
  'a plan for a new mission begins with an example, and is edited like any other',
  async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/missions/new?goal=New+prices')
    await page.getByRole('radio', { name: 'I write it' }).check({ force: true })
    await page.getByRole('button', { name: 'Start from an example' }).click()
    await page.getByRole('menuitem', { name: /^Several at the same time/ }).click()
    await row(page, /^3 ?Propose new prices.*after 1, 2/).click()
    await form(page, 3).getByLabel('Title').fill('Propose prices')
    await page.getByText('3 tasks in 2 steps').waitFor()
    await page.getByRole('button', { name: 'Propose this plan' }).click()
    await page.getByRole('table').getByText('Propose prices').waitFor()
  },
)
