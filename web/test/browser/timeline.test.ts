import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { makeMission } from '../../../test/support/http-missions.ts'
import type { Json } from '../../../test/support/http-workspace.ts'

/** The timeline of a mission that slept for a night, and the strip above it. */

const { isHere, workspace, openPage } = useBrowser()

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const BEGAN = Date.parse('2026-05-04T18:00:00Z')

/** Two tasks of which the second waits for a person from seven in the evening until five in the morning. */
const SEGMENTS = [
  { task: 0, kind: 'work', attempt: 1, from: 0, to: 30 * MINUTE },
  { task: 1, kind: 'waiting', attempt: 0, from: 0, to: 30 * MINUTE },
  { task: 1, kind: 'work', attempt: 1, from: 30 * MINUTE, to: HOUR },
  { task: 1, kind: 'person', attempt: 1, from: HOUR, to: 11 * HOUR },
  { task: 1, kind: 'work', attempt: 2, from: 11 * HOUR, to: 11 * HOUR + 20 * MINUTE },
]

const answerOf = (tasks: string[]): Json => ({
  tasks,
  segments: {
    task: SEGMENTS.map(({ task }) => task),
    kind: SEGMENTS.map(({ kind }) => kind),
    attempt: SEGMENTS.map(({ attempt }) => attempt),
    from: SEGMENTS.map(({ from }) => BEGAN + from),
    to: SEGMENTS.map(({ to }) => BEGAN + to),
    startedAt: SEGMENTS.map(({ kind, from }) => (kind === 'work' ? BEGAN + from : null)),
    runId: SEGMENTS.map(() => null),
  },
})

async function opened(): Promise<Page> {
  const w = await workspace()
  const mission = await makeMission(w, [
    { tempId: 'map', title: 'List callers' },
    { tempId: 'move', title: 'Move invoices' },
  ])
  const { page, address } = await openPage(w, '/missions')
  await page.route(`**/missions/${mission.id}/timeline*`, async (route) => {
    const response = await route.fetch()
    const answer = await response.json()
    await route.fulfill({ response, json: { ...answer, ...answerOf(answer.tasks) } })
  })
  await page.goto(address(`/missions/${mission.id}?view=timeline`))
  await page.getByRole('region', { name: 'Timeline' }).waitFor()
  return page
}

const timeline = (page: Page) => page.getByRole('region', { name: 'Timeline' })
const strip = (page: Page) => page.getByRole('slider', { name: 'Stretch of time' })
/** What the table for those who do not see the strip says. */
const table = async (page: Page) =>
  (await timeline(page).getByRole('table').locator('tbody tr').allInnerTexts()).map((text) =>
    text.split('\t').slice(1).join(' '),
  )

test.skipIf(!isHere)('a night is folded, is told as it was, and is drawn when that is wanted', async () => {
  const page = await opened()
  await timeline(page).getByText('11 h 20 m in all, of which 10 h idle are folded').waitFor()
  await timeline(page).getByText('10 h idle', { exact: true }).waitFor({ state: 'attached' })
  const width = async (name: string) =>
    (await timeline(page)
      .locator('title', { hasText: name })
      .locator('xpath=..')
      .locator('rect')
      .first()
      .boundingBox())!.width
  const folded = await width('Running, 20 m, attempt 2')
  expect(await table(page)).toEqual(['1 h 1', '10 h none, folded in the drawing', '20 m 1'])
  // What rows say is the real time.
  await timeline(page).getByText('waiting for a person 10 h', { exact: false }).waitFor({ state: 'attached' })
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('i')
  await timeline(page).getByText('11 h 20 m in all', { exact: true }).waitFor()
  expect(await width('Running, 20 m, attempt 2')).toBeLessThan(folded / 3)
  expect(await table(page)).toEqual(['1 h 1', '10 h none', '20 m 1'])
  await timeline(page)
    .getByRole('button', { name: /^Fold idle time/ })
    .click()
  await timeline(page).getByText('10 h idle are folded', { exact: false }).waitFor()
})

test.skipIf(!isHere)(
  'a stretch is drawn over the strip with the mouse, and given up by Esc or a double click',
  async () => {
    const page = await opened()
    await timeline(page).getByText('11 h 20 m in all', { exact: false }).waitFor()
    const box = (await strip(page).boundingBox())!
    const draw = async () => {
      await page.mouse.move(box.x + 2, box.y + 10)
      await page.mouse.down()
      await page.mouse.move(box.x + box.width / 8, box.y + 12)
      await page.mouse.move(box.x + box.width / 4, box.y + 12)
      await page.mouse.up()
    }
    await draw()
    await timeline(page)
      .getByText(/^\d+ m .*of 11 h 20 m$/)
      .waitFor()
    expect(await table(page)).toEqual([expect.stringMatching(/^\d+ m.* 1$/)])
    await strip(page).press('Escape')
    await timeline(page).getByText('11 h 20 m in all', { exact: false }).waitFor()
    await draw()
    await timeline(page)
      .getByText(/^\d+ m .*of 11 h 20 m$/)
      .waitFor()
    await strip(page).dblclick()
    await timeline(page).getByText('11 h 20 m in all', { exact: false }).waitFor()
    // A click alone shows nothing else, and a stretch that is given up while it is drawn is not shown.
    await page.mouse.move(box.x + 2, box.y + 10)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width / 4, box.y + 12)
    await page.keyboard.press('Escape')
    await page.mouse.up()
    await strip(page).click()
    await timeline(page).getByText('11 h 20 m in all', { exact: false }).waitFor()
  },
)

test.skipIf(!isHere)('a stretch is drawn with the keyboard alone, and told in words', async () => {
  const page = await opened()
  await strip(page).focus()
  const told = () => strip(page).getAttribute('aria-valuetext')
  await page.keyboard.press('Home')
  await expect.poll(told).toMatch(/^18:00:00, 1 at once$/)
  for (let n = 0; n < 5; n++) await page.keyboard.press('Shift+ArrowRight')
  await expect.poll(told).toMatch(/^18:00:00 to 18:\d\d:\d\d, \d+ m .*Enter shows it$/)
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Enter')
  await timeline(page)
    .getByText(/^\d+ m .*of 11 h 20 m$/)
    .waitFor()
  expect(await page.evaluate("document.activeElement?.getAttribute('role')")).toBe('slider')
  await page.keyboard.press('Shift+ArrowLeft')
  await page.keyboard.press('Escape')
  await expect.poll(told).not.toContain('Enter shows it')
  await timeline(page)
    .getByText(/^\d+ m .*of 11 h 20 m$/)
    .waitFor()
  await page.keyboard.press('Escape')
  await timeline(page).getByText('11 h 20 m in all', { exact: false }).waitFor()
})
