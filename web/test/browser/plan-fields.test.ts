import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { makeMission, showMission, tasksByTitle } from '../../../test/support/http-missions.ts'

/** All that the language of plans has is a field in the outline. */

const { isHere, workspace, openPage } = useBrowser()

const TASKS = [
  { tempId: 'map', title: 'List all callers' },
  { tempId: 'move', title: 'Move invoices', dependsOn: ['map'] },
]
const MORE = 'Id, type, instructions, estimates and limits'

const row = (page: Page, name: RegExp) =>
  page.getByRole('region', { name: 'Plan editor' }).getByRole('button', { name })
const form = (page: Page, number: number) => page.getByRole('group', { name: `Task ${number}`, exact: true })
const yaml = (page: Page) => page.getByRole('textbox', { name: 'YAML' })

test.skipIf(!isHere)(
  'title, strategy, tools, input, output schema and contractor are fields of the one draft, and are approved',
  async () => {
    const w = await workspace()
    expect((await w.call('PUT', '/agents/dev', { adapterType: 'external' })).status).toBe(201)
    const mission = await makeMission(w, TASKS, { config: { autonomy: 'approve' } })
    const opened = await openPage(w, `/missions/${mission.id}?view=plan&edit=1`)
    opened.expected.push(/422/)
    const { page } = opened
    await page.getByText('Title and strategy').click()
    const plan = page.getByRole('group', { name: 'The plan itself' })
    await plan.getByLabel('Title of the plan').fill('Billing')
    await plan.getByLabel('Strategy').fill('Map first, then move.')
    await expect.poll(() => yaml(page).innerText()).toMatch(/^title: Billing\nstrategy: Map first/)

    const second = form(page, 2)
    await row(page, /^2 ?Move invoices/).click()
    await second.getByText(MORE).click()
    await second.getByLabel('Tools').fill('Read,WebFetch,')
    await second.getByRole('button', { name: 'Remove WebFetch' }).waitFor()
    await second.getByLabel('Input').fill('{"limit": 4}')
    await second.getByLabel('Made from the agent').selectOption('dev')
    await second.getByLabel('Its name').fill('mover')
    // What cannot be read yet is kept, also while another task is looked at, and said at its field.
    const schema = second.getByLabel('Output schema')
    await schema.fill('{"type": "object", "required": ["moved"]')
    await second.getByRole('alert').getByText('This cannot be read as JSON.').waitFor()
    await second.getByLabel('Budget in tokens').fill('many')
    const limits = second.getByRole('region', { name: 'Limits' })
    await limits
      .getByRole('alert')
      .getByText(/^The budget in tokens/)
      .waitFor()
    expect(await second.getByLabel('Budget in tokens').getAttribute('aria-invalid')).toBe('true')
    expect(await second.getByLabel('Budget in dollars').getAttribute('aria-invalid')).toBe(null)
    expect(await axe(page)).toEqual([])
    await row(page, /^1 ?List all callers/).click()
    await row(page, /^2 ?Move invoices.*2 problems/).click()
    await schema.fill(`${await schema.inputValue()}}`)
    await second.getByLabel('Budget in tokens').fill('5000')
    await page.getByText('No problems').waitFor()
    // From the YAML back to the fields.
    await yaml(page).fill((await yaml(page).innerText()).replace('Map first, then move.', 'Move at once.'))
    await expect.poll(() => plan.getByLabel('Strategy').inputValue()).toBe('Move at once.')
    await page.getByText('No problems').waitFor()

    await page.getByRole('button', { name: 'Save as version 2' }).click()
    await page
      .getByRole('paragraph')
      .filter({ hasText: /^Move at once\.$/ })
      .waitFor()
    await page.getByRole('button', { name: 'Approve version 2' }).click()
    await expect.poll(async () => (await showMission(w, mission)).approvedVersion).toBe(2)
    const task = (await tasksByTitle(w, mission))['Move invoices']!
    expect((await w.call('GET', `/tasks/${task.id}`)).body).toMatchObject({
      toolsRequested: ['Read', 'WebFetch'],
      input: { limit: 4 },
      outputSchema: { type: 'object', required: ['moved'] },
      budget: { maxTokens: 5_000 },
      agent: expect.stringMatching(/^dev@mission-/),
    })
  },
)

test.skipIf(!isHere)('a problem of the plan itself opens its field, and says it there', async () => {
  const w = await workspace()
  const mission = await makeMission(w, TASKS, { config: { autonomy: 'approve' } })
  const opened = await openPage(w, `/missions/${mission.id}?view=plan&edit=1`)
  opened.expected.push(/422/)
  const { page } = opened
  await yaml(page).fill(`strategy: [ first, then ]\n${await yaml(page).innerText()}`)
  const strategy = page.getByRole('group', { name: 'The plan itself' }).getByLabel('Strategy')
  await strategy.waitFor()
  await page
    .getByRole('group', { name: 'The plan itself' })
    .getByText(/^The strategy must be text/)
    .waitFor()
  expect(await strategy.getAttribute('aria-invalid')).toBe('true')
})
