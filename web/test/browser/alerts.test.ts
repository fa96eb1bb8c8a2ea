import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { ALERT_CAUSES, causeOf } from '../../../src/kinds/alert/causes.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Workspace } from '../../../test/support/http-workspace.ts'
import { superuser } from '../../../test/support/nodes.ts'

/** What people see of alerts, and how they say that they look after one. */

const { isHere, workspace, served, openPage } = useBrowser()

/** An item takes answers only 300 ms after it was shown, by the clock of the page. */
const settled = (page: Page) =>
  page.evaluate(`new Promise((settle) => requestAnimationFrame(() => setTimeout(settle, 350)))`)

async function runsOutOfMemory(w: Workspace, title: string) {
  const task = await w.held({ title })
  const failure = { failureClass: 'out_of_memory', error: 'killed at 16 GB' }
  await w.on(task, 'fail', { session: 's-alpha', generation: 1, ...failure })
  return task
}

test.skipIf(!isHere)(
  'an alert comes to the overview and the inbox by itself, and is acknowledged',
  async () => {
    const w = await workspace()
    await w.make()
    const { page } = await openPage(w, '/')
    await page.getByText('Nothing is waiting for you.').waitFor()
    expect(await page.getByRole('region', { name: 'Alerts' }).count()).toBe(0)
    const task = await runsOutOfMemory(w, 'Index the logs')
    const line = page.getByRole('region', { name: 'Alerts' })
    await line.getByText('A task ran out of memory (Index the logs)').waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('i')
    await page.getByRole('button', { name: /^A task ran out of memory: Index the logs/ }).click()
    const item = page.getByRole('article', { name: 'A task ran out of memory: Index the logs' })
    await item.getByText('Critical alert').waitFor()
    await item.getByText('Give the agent more memory', { exact: false }).waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await page
      .getByText(/^Acknowledged/)
      .first()
      .waitFor()
    await item.getByRole('link', { name: 'All alerts' }).waitFor({ state: 'detached' })
    const { page: list } = await openPage(w, '/alerts?state=acknowledged')
    await list.getByText(/looks after it/).waitFor()
    await w.on(task, 'retry')
    await list.getByText('Nothing is being looked after').waitFor()
  },
)

test.skipIf(!isHere)('the page of alerts acknowledges with a word, and follows what happens', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/alerts')
  await page.getByText('Nothing is wrong').waitFor()
  await runsOutOfMemory(w, 'Index the logs')
  await page.getByRole('button', { name: 'Acknowledge: A task ran out of memory (Index the logs)' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('What is being done').fill('I give it more')
  await dialog.getByRole('button', { name: 'Acknowledge' }).click()
  await page.getByText('Nothing is wrong').waitFor()
  await page.getByText('Acknowledged', { exact: true }).click()
  await page.getByText(/looks after it: I give it more/).waitFor()
})

test.skipIf(!isHere)('every cause has its words on the page', async () => {
  const w = await workspace()
  await superuser(served().databaseUrl, async (client) => {
    for (const [i, cause] of ALERT_CAUSES.entries())
      await client.query(
        `insert into baton.alerts (workspace_id, alert_id, cause, subject, number, scope, severity, name, detail, count,
                                   first_at, last_at, resolved_at)
         select k.workspace_id, gen_random_uuid(), $2, 'x', 1, 'workspace', $3, 'thing', 'because', $4, now(), now(), now()
           from baton.workspaces k where k.uuid = $1`,
        [w.id, cause, causeOf(cause).severity, i + 1],
      )
  })
  const { page } = await openPage(w, '/alerts?state=resolved')
  const rows = page.getByRole('list', { name: 'Alerts: over' }).getByRole('listitem')
  await expect.poll(() => rows.count()).toBe(ALERT_CAUSES.length)
  const texts = await rows.allInnerTexts()
  for (const cause of ALERT_CAUSES) {
    const { words, severity } = causeOf(cause)
    const row = texts.find((text) => text.includes(`${words}: thing`))
    expect(row?.toLowerCase(), cause).toContain(severity)
  }
})
