import { describe, expect, onTestFinished, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { actOn, makeMission, showMission } from '../../../test/support/http-missions.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'

/** A person edits, approves and discusses a mission, and keeps it. */

const { isHere, workspace, openPage } = useBrowser()

const TASKS = [
  { tempId: 'map', title: 'List all callers' },
  { tempId: 'move', title: 'Move invoices', dependsOn: ['map'] },
]

const REPORT = { markdown: 'All callers are known.' }

const asked = (w: Workspace): Promise<Json> =>
  makeMission(w, TASKS, { title: 'Move billing', config: { autonomy: 'approve' } })

test.skipIf(!isHere)('a new mission asks for acceptance of its outcome, and its page says so', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/missions/new?goal=Two+texts')
  await page.getByRole('radio', { name: 'I write it' }).check({ force: true })
  // With the editor, all below it has its place.
  await page.getByText('No problems').waitFor()
  await page.getByText('I accept the outcome').click()
  await page.getByText('The outcome waits in the inbox.').waitFor()
  await page.getByRole('button', { name: 'Propose this plan' }).click()
  await page.getByText('a person accepts the outcome').waitFor()
  const { items } = (await w.call('GET', '/missions')).body
  expect(items).toMatchObject([{ goal: 'Two texts', config: { acceptance: 'human' } }])
})

test.skipIf(!isHere)(
  'missions are a board in columns by state, live, by keyboard and on a phone',
  async () => {
    const w = await workspace()
    await asked(w)
    const moving = await makeMission(w, TASKS, { title: 'Move files' })
    const { page } = await openPage(w, '/missions')
    const column = (name: string) => page.getByRole('region', { name, exact: true })
    await page.getByRole('table', { name: 'Missions' }).waitFor()
    await page.keyboard.press('v')
    await column('Planning, 0, 1 to approve').getByText('Plan to approve').waitFor()
    await column('Running, 1').getByText('0 of 2 done').waitFor()
    expect(new URL(page.url()).search).toBe('?view=board')
    await actOn(w, moving, 'pause')
    await column('Paused, 1').getByRole('link', { name: 'Move files' }).waitFor()
    await actOn(w, moving, 'cancel', { reason: 'not needed' })
    const ended = column('Done, 0, 1 cancelled').getByRole('link', { name: 'Move files' })
    await ended.waitFor()
    expect(await axe(page)).toEqual([])
    await page.setViewportSize({ width: 390, height: 844 })
    await ended.waitFor({ state: 'detached' })
    await page.getByText('Done 1').click()
    await ended.waitFor()
    await page.setViewportSize({ width: 1280, height: 800 })
    await column('Running, 0').waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.waitForURL(`**/missions/${moving.id}`)
  },
)

test.skipIf(!isHere)(
  'missions in a list, and the tasks of one, are chosen and opened with keys',
  async () => {
    const w = await workspace()
    const mission = await makeMission(w, TASKS, { title: 'Move billing' })
    await makeMission(w, TASKS, { title: 'Move files' })
    const { page } = await openPage(w, '/missions')
    await page.getByRole('table', { name: 'Missions' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: /^Move billing/ }).waitFor()
    expect(new URL(page.url()).pathname).toContain(mission.id)
    const views = page.getByRole('group', { name: 'View' })
    await views.getByText('Tasks', { exact: true }).click()
    await page.getByRole('table', { name: 'Tasks of the mission, by layers' }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    await page.keyboard.press('Enter')
    await page
      .getByRole('complementary')
      .getByRole('heading', { name: /Move invoices/ })
      .waitFor()
    await views.getByText('Graph', { exact: true }).click()
    const node = (name: RegExp) => page.getByRole('region', { name: 'Graph' }).getByRole('link', { name })
    await node(/List all callers/).waitFor()
    await page.keyboard.press('Escape')
    await page.keyboard.press('j')
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toMatch(/callers|invoices/)
  },
)

test.skipIf(!isHere)(
  'a title of 500 letters leaves room for the rest of the page, on a phone and at 200 % zoom',
  async () => {
    const w = await workspace()
    const title = 'W'.repeat(500)
    const mission = await makeMission(w, [{ tempId: 'a', title }], { title })
    const opened = await openPage(w, `/missions/${mission.id}?view=tasks`)
    const { page } = opened
    const before = page.viewportSize()!
    onTestFinished(() => page.setViewportSize(before))
    const tasks = page.getByRole('table', { name: 'Tasks of the mission, by layers' })
    await tasks.waitFor()
    for (const size of [
      { width: 390, height: 844 },
      { width: 720, height: 450 },
    ]) {
      await page.setViewportSize(size)
      await tasks.scrollIntoViewIfNeeded()
      await expect.poll(() => opened.overflow()).toBeLessThanOrEqual(1)
      const content = page.locator('[data-scroll-restoration-id="page"]')
      expect((await content.boundingBox())!.height).toBeGreaterThan(size.height / 4)
      // The rail scrolls: its links stay as large as fingers need them.
      const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Overview' })
      if (size.width > 640) expect((await link.boundingBox())!.height).toBeGreaterThanOrEqual(24)
      expect(await axe(page)).toEqual([])
    }
  },
)

describe.skipIf(!isHere)('on the page of a mission', () => {
  test('a plan is approved with its descriptions in sight and no edit unsaved, and its tasks open beside the list', async () => {
    const w = await workspace()
    const described = TASKS.map((task) => ({ ...task, description: `How to do ${task.tempId}.` }))
    const mission = await makeMission(w, described, { config: { autonomy: 'approve' } })
    const { page } = await openPage(w, `/missions/${mission.id}?view=comments`)
    const approve = page.getByRole('button', { name: 'Approve version 1' })
    await page.getByRole('button', { name: 'Read it to approve it' }).click()
    await page.getByText('How to do map.').waitFor()
    await approve.waitFor()
    await page.getByRole('button', { name: 'Edit the plan' }).click()
    const title = page.getByRole('group', { name: 'Task 1', exact: true }).getByLabel('Title')
    await title.fill('Mine')
    await approve.waitFor({ state: 'detached' })
    await page.getByText('Comments', { exact: true }).click()
    await page.getByLabel('Comment', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Back to your edit' }).click()
    expect(await title.inputValue()).toBe('Mine')
    await page.getByRole('button', { name: 'Discard the edit' }).click()
    await approve.click()
    await expect.poll(async () => (await showMission(w, mission)).approvedVersion).toBe(1)
    await page.getByText('Tasks', { exact: true }).click()
    const table = page.getByRole('table', { name: 'Tasks of the mission, by layers' })
    await table.getByRole('link', { name: /^#\d+ ?Move invoices$/ }).click()
    const panel = page.getByRole('complementary', { name: /^#\d+$/ })
    await panel.getByText('How to do move.').waitFor()
    await table.waitFor()
    expect(await axe(page)).toEqual([])
    await page.keyboard.press('Escape')
    await panel.waitFor({ state: 'detached' })
  })

  test('a report that is not there yet is being written, and then appears', async () => {
    const w = await workspace()
    const mission = await makeMission(w, TASKS)
    const opened = await openPage(w, `/missions/${mission.id}?view=report`)
    opened.expected.push(/404/)
    const { page } = opened
    let isWritten = false
    const notYet = { status: 404, contentType: 'application/problem+json' }
    const problem = { code: 'NOT_FOUND', status: 404, title: 'Not in this workspace' }
    await page.route('**/report?*', (route) =>
      isWritten ? route.continue() : route.fulfill({ ...notYet, body: JSON.stringify(problem) }),
    )
    await actOn(w, mission, 'cancel', { reason: 'not needed' })
    await page.getByText('The report is being written.').waitFor()
    isWritten = true
    expect((await w.post(`/missions/${mission.id}/report`, REPORT)).status).toBe(201)
    await page.getByText('All callers are known.').waitFor()
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
    await w.happens('report_written')
    const { page } = await openPage(w, `/missions/${mission.id}?view=report`)
    await page.getByRole('button', { name: 'Save as routine' }).click()
    await page.getByLabel('Name').fill('Monthly move')
    await page.getByRole('dialog').getByRole('button', { name: 'Save as routine' }).click()
    await page.getByText('Saved as the routine “Monthly move”.').waitFor()
    expect((await w.call('GET', '/routines')).body.items).toMatchObject([{ name: 'Monthly move' }])
  })
})
