import { describe, expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { actOn, makeMission, showMission, tasksByTitle } from '../../../test/support/http-missions.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'

/** A person edits, approves and discusses a mission, and keeps it. */

const { isHere, workspace, openPage } = useBrowser()

const TASKS = [
  { tempId: 'map', title: 'List all callers' },
  { tempId: 'move', title: 'Move invoices', dependsOn: ['map'] },
]

const asked = (w: Workspace): Promise<Json> =>
  makeMission(w, TASKS, { title: 'Move billing', config: { autonomy: 'approve' } })

describe.skipIf(!isHere)('on the page of a mission', () => {
  test('the plan is edited with all its problems shown at once, and approved as it was seen', async () => {
    const w = await workspace()
    const mission = await asked(w)
    const opened = await openPage(w, `/missions/${mission.id}?view=plan`)
    opened.expected.push(/422/)
    const { page } = opened
    await page.getByRole('button', { name: 'Edit the plan' }).click()
    const row = (name: string) => page.getByRole('group', { name, exact: true })
    await row('map').getByLabel('After').fill('nowhere')
    await row('move').getByLabel('Budget in $').fill('much')
    await page.getByRole('button', { name: 'Save as the next version' }).click()
    await row('map').getByRole('alert').waitFor()
    await row('move').getByRole('alert').waitFor()
    expect(await axe(page)).toEqual([])
    await row('map').getByLabel('After').fill('')
    await row('map').getByLabel('Title').fill('List all callers of the old API')
    await row('move').getByLabel('Budget in $').fill('2.50')
    await page.getByRole('button', { name: 'Save as the next version' }).click()
    await page.getByRole('button', { name: 'Approve version 2' }).waitFor()
    await page.getByLabel('Compared with').selectOption({ label: 'Version 1' })
    await page.getByText('title: List all callers → List all callers of the old API').waitFor()
    await page.getByRole('button', { name: 'Approve version 2' }).click()
    await expect.poll(async () => (await showMission(w, mission)).approvedVersion).toBe(2)
    await page.getByText('Tasks', { exact: true }).click()
    const table = page.getByRole('table', { name: 'Tasks of the mission, by layers' })
    await table.getByText('Step 2').waitFor()
    expect(await axe(page)).toEqual([])
    await table.getByText('Queued').first().waitFor()
    const first = (await tasksByTitle(w, mission))['List all callers of the old API']!
    expect((await w.claim(first as never)).body.reason).toBe('GRANTED')
    await table.getByText('Assigned').first().waitFor()
  })

  test('people comment on it, and read what others say at once', async () => {
    const w = await workspace()
    const mission = await asked(w)
    const { page } = await openPage(w, `/missions/${mission.id}?view=comments`)
    await page.getByText('No comments yet.').waitFor()
    await page.getByLabel('Comment', { exact: true }).fill('Keep the **old** one alive.')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('article').getByText('Keep the old one alive.').waitFor()
    const { items } = (await w.call('GET', `/missions/${mission.id}/comments`)).body
    await w.post(`/missions/${mission.id}/comments`, { text: 'For a month.', replyTo: items[0].id })
    await page.getByRole('article').getByText('For a month.').waitFor()
    expect(await axe(page)).toEqual([])
  })

  test('its report is kept as a routine', async () => {
    const w = await workspace()
    const mission = await makeMission(w, TASKS)
    await actOn(w, mission, 'cancel', { reason: 'not needed' })
    const { page } = await openPage(w, `/missions/${mission.id}?view=report`)
    await page.getByRole('button', { name: 'Save as routine' }).click()
    await page.getByLabel('Name').fill('Monthly move')
    await page.getByRole('dialog').getByRole('button', { name: 'Save as routine' }).click()
    await page.getByText('Saved as the routine “Monthly move”.').waitFor()
    expect((await w.call('GET', '/routines')).body.items).toMatchObject([{ name: 'Monthly move' }])
  })
})
