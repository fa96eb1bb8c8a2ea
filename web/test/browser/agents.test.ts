import { expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Workspace } from '../../../test/support/http-workspace.ts'

/** What people do with agents: make one, set it up, wake it, pause it, watch it. */

const { isHere, workspace, openPage } = useBrowser()

const simulated = (steps: readonly object[]) => ({ adapterType: 'simulated', adapterConfig: { steps } })

async function hire(w: Workspace, slug: string, steps: readonly object[]): Promise<void> {
  expect(await w.call('PUT', `/agents/${slug}`, simulated(steps))).toMatchObject({ status: 201 })
}

test.skipIf(!isHere)('an agent is paused, resumed and woken, and its run is listed', async () => {
  const w = await workspace()
  await hire(w, 'dev-1', [{ say: 'hello' }, { result: { ok: true } }])
  const { page } = await openPage(w, '/agents/dev-1')
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).first().click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.getByRole('button', { name: 'Wake' }).click()
  await page.getByRole('table', { name: 'Runs of dev-1' }).getByText('Succeeded').waitFor()
})

test.skipIf(!isHere)('settings are tested, saved, and not lost when somebody else saves', async () => {
  const w = await workspace()
  await hire(w, 'dev-1', [{ result: {} }])
  const { page } = await openPage(w, '/agents/dev-1?tab=settings')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByRole('list', { name: 'Checks' }).waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('Mine')
  expect(await w.call('PUT', '/agents/dev-1', { name: 'Theirs' })).toMatchObject({ status: 200 })
  await page.getByText('The settings were changed while you edited them.').waitFor()
  await page.getByRole('button', { name: 'Save mine over it' }).click()
  await page.getByText('The settings of dev-1 are saved.').waitFor()
  expect((await w.call('GET', '/agents/dev-1')).body).toMatchObject({
    name: 'Mine',
    adapterType: 'simulated',
  })
})

test.skipIf(!isHere)('a new agent never changes one that has the name', async () => {
  const w = await workspace()
  await hire(w, 'dev-1', [{ result: {} }])
  const opened = await openPage(w, '/agents/new?adapter=simulated')
  opened.expected.push(/412/)
  const { page } = opened
  await page.getByRole('textbox', { name: 'Name' }).fill('dev-1')
  await page.getByRole('textbox', { name: /^Steps/ }).fill('[{"result":{}}]')
  await page.getByRole('button', { name: 'Make agent' }).click()
  await page.getByText('There is an agent dev-1 already.').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('dev-2')
  await page.getByRole('button', { name: 'Make agent' }).click()
  await page.waitForURL(/\/agents\/dev-2$/)
})

test.skipIf(!isHere)('the wall shows the last lines of a run, and its end', async () => {
  const w = await workspace()
  await hire(w, 'dev-1', [{ waitMs: 1_500 }, { say: 'PASS login' }, { waitMs: 1_500 }, { result: {} }])
  const { page } = await openPage(w, '/watch')
  await w.make({ title: 'Fix the login form', agent: 'dev-1' })
  const tile = page.getByRole('article', { name: 'dev-1: Fix the login form' })
  await tile.getByText('PASS login').waitFor()
  await tile.getByText('Succeeded').waitFor()
})
