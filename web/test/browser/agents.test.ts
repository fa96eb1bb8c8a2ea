import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import type { Look } from '../../../test/support/browser/open-page.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Workspace } from '../../../test/support/http-workspace.ts'

/** What people do with agents: create, set up, wake, pause and watch them. */

const { isHere, workspace, openPage } = useBrowser()

const simulated = (steps: readonly object[]) => ({ adapterType: 'simulated', adapterConfig: { steps } })

async function hire(w: Workspace, slug: string, steps: readonly object[]): Promise<void> {
  expect(await w.call('PUT', `/agents/${slug}`, simulated(steps))).toMatchObject({ status: 201 })
}

/** Without a reason; the dialog links its run. */
async function wake(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Wake' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Wake' }).click()
  await dialog.getByRole('link', { name: 'Open its run' }).waitFor()
  await page.keyboard.press('Escape')
}

test.skipIf(!isHere)(
  'an agent is found, paused, resumed and woken by the keyboard, and its run is listed',
  async () => {
    const w = await workspace()
    await hire(w, 'dev-1', [{ say: 'hello' }, { result: { ok: true } }])
    const { page } = await openPage(w, '/agents')
    const row = page.getByRole('row', { name: /dev-1/ })
    await row.waitFor()
    for (const key of ['j', 'p']) await page.keyboard.press(key)
    await row.getByText('Paused').waitFor()
    await page.keyboard.press('Enter')
    // The list has such a button, too, until the page of the agent is there.
    await page.getByRole('heading', { level: 1 }).getByText('dev-1').waitFor()
    await page.getByRole('button', { name: 'Resume' }).first().waitFor()
    await page.keyboard.press('p')
    await page.getByRole('button', { name: 'Pause' }).waitFor()
    await page.keyboard.press('w')
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Wake' }).waitFor()
    await page.keyboard.press('Control+Enter')
    await dialog.getByRole('link', { name: 'Open its run' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('table', { name: 'Runs of dev-1' }).getByText('Succeeded').waitFor()
  },
)

test.skipIf(!isHere)(
  'a paused agent finishes its run; to stop it now is a second act that asks first',
  async () => {
    const w = await workspace()
    await hire(w, 'dev-1', [{ say: 'hello' }, { waitMs: 600_000 }, { result: {} }])
    const { page } = await openPage(w, '/agents/dev-1')
    const runs = page.getByRole('table', { name: 'Runs of dev-1' })
    await wake(page)
    await runs.getByText('Running').waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByText('It finishes its current tasks and gets no new ones.').waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Stop now…' }).click()
    expect((await w.call('GET', '/agents/dev-1')).body).toMatchObject({ state: 'paused', activeRuns: 1 })
    await page.getByRole('dialog').getByRole('button', { name: 'Stop now' }).click()
    await runs.getByText('Cancelled', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Terminate…' }).click()
    await page.getByRole('checkbox', { name: 'Stop its runs now' }).check()
    await page.getByRole('button', { name: 'Terminate agent' }).click()
    await page.getByText('dev-1 is terminated.').waitFor()
  },
)

test.skipIf(!isHere)(
  'the types of work that an agent takes are set with it, shown, and changed',
  async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/agents/new?adapter=simulated')
    await page.getByRole('textbox', { name: 'Name' }).fill('dev-1')
    await page.getByLabel('Types of tasks').fill('review, docs')
    await page.getByLabel('Steps').fill('[{"result":{}}]')
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByText('takes only docs, review').waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    await page.getByRole('button', { name: 'Remove type review' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('takes only docs', { exact: false }).waitFor()
    await expect.poll(async () => (await w.call('GET', '/agents/dev-1')).body.taskTypes).toEqual(['docs'])
  },
)

test.skipIf(!isHere)('settings are tested, saved, and not lost when somebody else saves', async () => {
  const w = await workspace()
  await hire(w, 'dev-1', [{ result: {} }])
  const { page } = await openPage(w, '/agents/dev-1?tab=settings')
  await page.getByRole('button', { name: 'Test' }).click()
  await page.getByRole('list', { name: 'Checks' }).waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('Mine')
  expect(await w.call('PUT', '/agents/dev-1', { name: 'Theirs' })).toMatchObject({ status: 200 })
  await page.getByText('The settings changed while you were editing.').waitFor()
  await page.getByRole('button', { name: 'Save mine over it' }).click()
  await page.getByText('The settings of dev-1 are saved.').waitFor()
  expect((await w.call('GET', '/agents/dev-1')).body).toMatchObject({
    name: 'Mine',
    adapterType: 'simulated',
  })
})

test.skipIf(!isHere)('on a phone settings are read, and the agent is paused with one tap', async () => {
  const w = await workspace()
  await hire(w, 'dev-1', [{ result: {} }])
  const opened = await openPage(w, '/agents/dev-1?tab=settings', { phone: true })
  const { page } = opened
  await page.getByText('Settings can be changed on a wider screen.').waitFor()
  expect(await page.getByRole('tabpanel').getByRole('textbox').count()).toBe(0)
  expect([await axe(page), await opened.overflow()]).toEqual([[], 0])
  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Resume' }).first().waitFor()
})

/** The prompt editor, with the cursor at the end of what it has. */
async function editPrompt(w: Workspace, promptTemplate: string, look?: Look) {
  const { adapterType, adapterConfig } = simulated([{ result: {} }])
  const body = { adapterType, adapterConfig: { ...adapterConfig, promptTemplate } }
  expect(await w.call('PUT', '/agents/dev-1', body)).toMatchObject({ status: 201 })
  const opened = await openPage(w, '/agents/dev-1?tab=prompt', look)
  const { page } = opened
  const editor = page.getByRole('textbox', { name: 'Template' })
  await editor.focus()
  await page.keyboard.press('Control+End')
  const saved = async () => (await w.call('GET', '/agents/dev-1')).body.adapterConfig.promptTemplate
  return { opened, page, editor, saved, type: (text: string) => page.keyboard.type(text) }
}

test.skipIf(!isHere)('a prompt is written with variables as pills, by keys alone', async () => {
  const { page, editor, type, saved } = await editPrompt(await workspace(), 'Do ')
  await type('{{task.ti')
  await page.getByRole('option', { name: /task\.title/ }).waitFor()
  await page.keyboard.press('Enter')
  expect(await editor.locator('.cm-pill').allInnerTexts()).toEqual(['task title'])
  await type(' now {{task.key}}')
  await page.getByText('Do Fix login now B-003-fix-login').waitFor()
  await page.keyboard.press('Escape')
  await page.keyboard.press('Backspace')
  expect(await editor.locator('.cm-pill').allInnerTexts()).toEqual(['task title'])
  await page.keyboard.press('Control+z')
  expect(await editor.locator('.cm-pill').allInnerTexts()).toEqual(['task title', 'task key'])
  await page.keyboard.press('Control+Enter')
  await page.getByText('The prompt of dev-1 is saved.').waitFor()
  expect(await saved()).toBe('Do {{task.title}} now {{task.key}}')
  await page.keyboard.press('Tab')
  expect(await page.evaluate("document.activeElement.closest('.cm-editor') === null")).toBe(true)
})

test.skipIf(!isHere)('a prompt warns of what is unknown and of what is sensitive', async () => {
  const { opened, page, editor, type } = await editPrompt(await workspace(), 'Do {{task.title}}')
  await type(' of {{task.tite}}')
  await editor.locator('.cm-problem', { hasText: '{{task.tite}}' }).waitFor()
  const notes = page.getByRole('list', { name: 'Notes on the template' })
  await notes.getByText('Line 1, column 22: there is no variable "task.tite"').waitFor()
  await page.getByRole('button', { name: 'Save' }).hover()
  await page.getByText('Fix what is underlined first.').first().waitFor()
  expect(await axe(page)).toEqual([])
  await page.keyboard.press('Escape')
  await editor.focus()
  for (const _ of ' of {{task.tite}}') await page.keyboard.press('Backspace')
  await page.getByRole('button', { name: 'Insert credentials API key, sensitive' }).click()
  await notes.getByText('Line 1: credentials API key is sensitive.').waitFor()
  await page.getByText('Do Fix login[credentials.apiKey]').waitFor()
  await page.emulateMedia({ colorScheme: 'dark' })
  expect([await axe(page), await opened.overflow()]).toEqual([[], 0])
})

test.skipIf(!isHere)('a prompt that somebody else has saved is shown beside mine', async () => {
  const w = await workspace()
  const { opened, page, type, saved } = await editPrompt(w, 'Ours')
  opened.expected.push(/412/)
  // They save at the same moment: my save is refused.
  let isFirst = true
  await page.route(/\/agents\/dev-1$/, async (route) => {
    if (!isFirst || route.request().method() !== 'PUT') return route.continue()
    isFirst = false
    const { adapterConfig } = (await w.call('GET', '/agents/dev-1')).body
    await w.call('PUT', '/agents/dev-1', { adapterConfig: { ...adapterConfig, promptTemplate: 'Theirs' } })
    return route.continue()
  })
  await type(' and mine')
  await page.getByRole('button', { name: 'Save' }).click()
  const both = page.getByRole('alert', { name: 'Changed by somebody else' })
  await both.getByText('Theirs').waitFor()
  await both.getByText('Ours and mine').waitFor()
  expect(await saved()).toBe('Theirs')
  await both.getByRole('button', { name: 'Keep mine' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The prompt of dev-1 is saved.').waitFor()
  expect(await saved()).toBe('Ours and mine')
})

test.skipIf(!isHere)('a new agent never changes one that has the name', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/agents/new?adapter=simulated')
  await page.getByRole('button', { name: 'Create agent' }).waitFor()
  // After the page has read which names are taken: they are read again.
  await hire(w, 'dev-1', [{ result: {} }])
  await page.getByRole('textbox', { name: 'Name' }).fill('dev-1')
  await page.getByRole('textbox', { name: /^Steps/ }).fill('[{"result":{}}]')
  await page.getByText('There is already an agent dev-1.').waitFor()
  await page.getByRole('textbox', { name: 'Name' }).fill('dev-2')
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.waitForURL(/\/agents\/dev-2$/)
})

test.skipIf(!isHere)('the wall shows the last lines of a run, and its end', async () => {
  const w = await workspace()
  // It says it until it is stopped: a tile shows what is written while it is open.
  const again = Array.from({ length: 1_000 }, () => [{ waitMs: 200 }, { say: 'PASS login' }])
  await hire(w, 'dev-1', again.flat())
  const { page } = await openPage(w, '/watch')
  await w.make({ title: 'Fix the login form', agent: 'dev-1' })
  const tile = page.getByRole('article', { name: 'dev-1: Fix the login form' })
  await tile.getByText('PASS login').first().waitFor()
  const { items } = (await w.call('GET', '/runs')).body
  expect((await w.post(`/runs/${items[0].id}/cancel`)).status).toBeLessThan(300)
  await tile.getByText('Cancelled').first().waitFor()
})
