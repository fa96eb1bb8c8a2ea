import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { planOf } from '../../../test/support/http-missions.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'

/** Routines, as people schedule and run them. */

const { isHere, workspace, openPage } = useBrowser()

const VARIABLES = {
  properties: {
    what: { type: 'string', title: 'What to look for', default: 'known holes' },
    depth: { type: 'integer', default: 1, maximum: 3 },
  },
}

async function saved(w: Workspace, more: Json = {}): Promise<Json & { id: string }> {
  const plan = planOf({ tempId: 'audit', title: 'Audit: {{what}}' })
  const body = { name: 'Nightly audit', title: 'Audit: {{what}}', plan, variables: VARIABLES, ...more }
  const answer = await w.post('/routines', body)
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 201 })
  return answer.body
}
const show = async (w: Workspace, { id }: Json) => (await w.call('GET', `/routines/${id}`)).body

test.skipIf(!isHere)(
  'a routine gets a schedule in everyday words, and one that never fires says so before it is saved',
  async () => {
    const w = await workspace()
    const routine = await saved(w)
    const { page } = await openPage(w, '/routines')
    await page.getByText('only when you run it').waitFor()
    await page.getByRole('link', { name: 'Nightly audit' }).click()
    await page.getByRole('tab', { name: 'Settings' }).click()
    const schedule = page.getByRole('region', { name: 'Schedule' })
    const save = page.getByRole('button', { name: /^Save/ })
    await schedule.getByLabel('How often').selectOption({ label: 'As cron text' })
    await schedule.getByLabel('Cron text').fill('0 2 31 2 *')
    await schedule.getByText('names a day that none of its months has').waitFor()
    expect(await save.getAttribute('aria-disabled')).toBe('true')
    expect(await axe(page)).toEqual([])
    await schedule.getByLabel('How often').selectOption({ label: 'Every weekday' })
    await schedule.getByLabel('At', { exact: true }).fill('02:30')
    await schedule.getByLabel('Time zone').fill('Europe/Berlin')
    await schedule.getByText('Every weekday at 02:30.').waitFor()
    await schedule.getByText(/Next: .*02:30/).waitFor()
    await save.click()
    await page.getByText('Every weekday at 02:30, Europe/Berlin.').waitFor()
    expect((await show(w, routine)).schedule).toMatchObject({
      cron: '30 2 * * 1-5',
      timeZone: 'Europe/Berlin',
    })
    await page.keyboard.press('p')
    await page.getByText('Paused', { exact: true }).waitFor()
    await expect.poll(async () => (await show(w, routine)).enabled).toBe(false)
  },
)

test.skipIf(!isHere)('a routine is run with its variables, and the mission is in its history', async () => {
  const w = await workspace()
  const routine = await saved(w)
  const opened = await openPage(w, `/routines/${routine.id}`)
  opened.expected.push(/400/)
  const { page } = opened
  await page.getByText('It has not started a mission yet').waitFor()
  await page.keyboard.press('e')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('depth').fill('9')
  await page.keyboard.press('Control+Enter')
  await dialog.getByText('It must be at most 3.').waitFor()
  expect(await axe(page)).toEqual([])
  await dialog.getByLabel('depth').fill('2')
  await dialog.getByLabel('What to look for').fill('old licences')
  await page.keyboard.press('Control+Enter')
  const history = page.getByRole('table', { name: 'Missions of Nightly audit' })
  await history.getByText('what: old licences, depth: 2').waitFor()
  await history.getByText('by hand').waitFor()
  await history.getByRole('link', { name: 'Audit: old licences' }).click()
  await page.getByRole('link', { name: 'a routine' }).click()
  await page.getByRole('heading', { name: 'Nightly audit' }).waitFor()
  await page.getByRole('button', { name: 'More actions' }).click()
  await page.getByRole('menuitem', { name: 'Delete the routine…' }).click()
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /^Delete the routine/ })
    .click()
  await page.getByText('No routines yet').waitFor()
  expect((await w.call('GET', '/routines')).body.items).toEqual([])
})

test.skipIf(!isHere)('what is written in the settings stays when somebody else changes them', async () => {
  const w = await workspace()
  const routine = await saved(w)
  const { page } = await openPage(w, `/routines/${routine.id}?tab=settings`)
  await page.getByLabel('Name', { exact: true }).first().fill('Mine')
  await page.getByRole('group', { name: 'Variable depth' }).getByLabel('Default').fill('2')
  expect((await w.call('PATCH', `/routines/${routine.id}`, { goal: 'Theirs' })).status).toBe(200)
  await page.getByText('The routine was changed elsewhere').waitFor()
  await page.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByRole('button', { name: /^Save/ }).click()
  await expect.poll(async () => (await show(w, routine)).name).toBe('Mine')
  const { properties } = (await show(w, routine)).variables as { properties: Json }
  expect(properties).toEqual({ ...VARIABLES.properties, depth: { type: 'integer', default: 2, maximum: 3 } })
})
