import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'

/** One mission as a person has it, from an empty workspace to the routine that repeats it. All that is done is done in the app. */

const { isHere, workspace, openPage } = useBrowser()

/** What the planner answers. Its last task is changed before anybody works on it. */
const PLAN = {
  strategy: 'Find the callers, then move them.',
  tasks: [
    { tempId: 'map', title: 'List all callers', taskType: 'code' },
    { tempId: 'move', title: 'Move invoices', taskType: 'code', dependsOn: ['map'] },
    { tempId: 'old', title: 'Ask about the old API', taskType: 'question', dependsOn: ['move'] },
    { tempId: 'drop', title: 'Remove the old API', taskType: 'code', dependsOn: ['old'] },
  ],
}

/** Two that work: one at once, and one that first asks a person, which keeps the mission running until it is answered. */
async function workers(w: Workspace): Promise<void> {
  const script = (taskType: string, steps: Json[]) => ({
    adapterType: 'simulated',
    taskTypes: [taskType],
    adapterConfig: { steps, costUsd: '0.10' },
  })
  const done = { result: { done: true }, summary: 'It is done.' }
  const ask = { ask: 'Keep the old API alive?', options: ['Keep it', 'Remove it'] }
  expect((await w.call('PUT', '/agents/dev-1', script('code', [{ say: 'npm test' }, done]))).status).toBe(201)
  expect((await w.call('PUT', '/agents/owner-1', script('question', [ask, done]))).status).toBe(201)
}

async function makePlanner(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Planner/ }).click()
  await page.getByRole('radio', { name: 'Simulation' }).check()
  await page
    .getByRole('textbox', { name: /^Steps/ })
    .fill(JSON.stringify([{ result: PLAN, summary: 'A plan of four tasks.' }]))
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByRole('heading', { name: 'planner-1' }).waitFor()
}

const row = (page: Page, name: RegExp) =>
  page.getByRole('region', { name: 'Plan editor' }).getByRole('button', { name })
const form = (page: Page, number: number) => page.getByRole('group', { name: `Task ${number}`, exact: true })

/** The last task gets its description in the outline, and another title in the YAML. */
async function editPlan(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Edit the plan' }).click()
  await row(page, /^4 ?Remove the old API/).click()
  await form(page, 4).getByLabel('Description').fill('Only when nobody calls it.')
  const yaml = page.getByRole('textbox', { name: 'YAML' })
  await expect.poll(() => yaml.innerText()).toContain('Only when nobody calls it.')
  await yaml.fill((await yaml.innerText()).replace('Remove the old API', 'Switch the old API off'))
  await row(page, /^4 ?Switch the old API off/).waitFor()
  await page.getByText('No problems').waitFor()
  await page.getByRole('button', { name: 'Save as version 2' }).click()
  await page.getByRole('table').getByText('Switch the old API off').waitFor()
}

/** While it runs: one task goes, another comes. */
async function replan(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Change the plan' }).click()
  await row(page, /^4 ?Switch the old API off/).click()
  await page.getByRole('button', { name: 'Remove' }).click()
  await page.getByRole('button', { name: 'Add a task', exact: true }).last().click()
  await form(page, 4).getByLabel('Title').fill('Tell everybody')
  await form(page, 4).getByText('Id, type, instructions, estimates and limits').click()
  await form(page, 4).getByLabel('Type').fill('code')
  await form(page, 4).getByLabel('Waits for').fill('3')
  await page.keyboard.press('Enter')
  await form(page, 4).getByText('3 Ask about the old API', { exact: true }).waitFor()
  await page.keyboard.press('Control+Enter')
  const preview = page.getByRole('region', { name: 'What approval would change' })
  await preview.getByText('1 task cancelled').waitFor()
  await preview.getByText('1 task added').waitFor()
  await page.getByRole('button', { name: 'Approve version 3' }).click()
  await preview.waitFor({ state: 'detached' })
}

/** Every weekday, in everyday words. */
async function schedule(page: Page): Promise<void> {
  const fields = page.getByRole('region', { name: 'Schedule' })
  await fields.getByLabel('How often').selectOption({ label: 'Every weekday' })
  await fields.getByLabel('At', { exact: true }).fill('02:30')
  await fields.getByLabel('Time zone').fill('Europe/Berlin')
  await fields.getByText(/Next: .*02:30/).waitFor()
  await page.getByRole('button', { name: /^Save/ }).click()
  await page.getByText('Every weekday at 02:30, Europe/Berlin.').waitFor()
}

test.skipIf(!isHere)(
  'a goal becomes a plan, is edited, approved, watched, replanned, reported, kept as a routine, and run again',
  async () => {
    const w = await workspace()
    await workers(w)
    const { page, expected } = await openPage(w, '/agents')
    // A report that is asked for before it is written.
    expected.push(/404 .*\/report/)
    await page.getByRole('button', { name: 'New agent' }).click()
    await makePlanner(page)

    // A goal, and the plan that comes for it.
    await page.keyboard.press('c')
    await page.keyboard.press('m')
    await page.getByLabel('Goal').fill('Move billing')
    await page.getByText('It reads the goal and proposes the tasks.').waitFor()
    await page.getByRole('button', { name: 'Make a plan' }).click()
    await page.getByText('Version 1 of the plan is waiting for you').waitFor()
    await editPlan(page)
    await page.getByRole('button', { name: 'Approve version 2' }).click()

    // It is watched until somebody asks.
    await page.getByText('Graph', { exact: true }).click()
    const graph = page.getByRole('region', { name: 'Graph' })
    const node = (name: RegExp) => graph.getByRole('link', { name })
    await node(/List all callers, Done/).waitFor()
    await node(/Move invoices, Done/).waitFor()
    await page.getByText('Timeline', { exact: true }).click()
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline
      .getByRole('listitem')
      .filter({ hasText: 'Move invoices' })
      .getByText(/running/)
      .waitFor()
    const waiting = page.getByRole('region', { name: 'Waiting for you' })
    await waiting.getByText('owner-1 asks: Keep the old API alive?').waitFor()

    await replan(page)
    await page.getByText('Graph', { exact: true }).click()
    await node(/Tell everybody/).waitFor()
    await node(/Switch the old API off, Cancelled/).waitFor()

    // The answer lets it go on to its end, which is told wherever one is.
    await node(/Ask about the old API, Needs you/).click()
    await page.getByRole('complementary').getByRole('button', { name: 'Remove it' }).click()
    const messages = page.getByRole('region', { name: 'Messages' })
    await messages.getByText('Completed: Move billing').waitFor()
    await messages.getByRole('button', { name: 'Open the report' }).click()
    await page.getByText('Tell everybody').first().waitFor()

    // The same again, by itself and by hand.
    await page.getByRole('button', { name: 'Save as routine' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save as routine' }).click()
    await schedule(page)
    await page.keyboard.press('e')
    await page.getByRole('dialog').getByRole('button', { name: 'Start a mission' }).click()
    await page.getByRole('tab', { name: 'Missions' }).click()
    const history = page.getByRole('table', { name: 'Missions of Move billing' })
    await history.getByText('by hand').waitFor()
    await history.getByRole('link', { name: 'Move billing' }).click()
    await page.getByRole('link', { name: 'a routine' }).waitFor()
    const activity = page.getByRole('list', { name: 'Activity of the mission' })
    await activity.getByText('Tell everybody').waitFor()
    expect(await activity.getByText('Switch the old API off').count()).toBe(0)
  },
)
