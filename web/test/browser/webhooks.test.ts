import type { Page } from 'playwright-core'
import { expect, onTestFinished, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { fromGitHub } from '../../../test/support/hooks.ts'
import { ok, startReceiver } from '../../../test/support/receivers.ts'

/** What people do with webhooks and hooks. */

const { isHere, workspace, openPage, served } = useBrowser()

const textOf = (page: Page, name: RegExp) =>
  page.getByRole('dialog').getByRole('button', { name }).innerText()

test.skipIf(!isHere)(
  'a hook is made, its secret is shown once, and what comes is seen as it comes',
  async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/webhooks')
    await page.getByText('No other program can ask for work').waitFor()
    await page.keyboard.press('h')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('shop-issues')
    await dialog.getByLabel('Title').fill('Look at {{/issue/title}}')
    await dialog.getByLabel('Only these events').fill('issues')
    await dialog.getByLabel('Only if').fill('/action opened')
    await dialog.getByText('“/action opened” is no condition').waitFor()
    await dialog.getByLabel('Only if').fill('/action = opened, reopened')
    await dialog.getByRole('button', { name: 'Make the hook' }).click()
    await page.getByRole('heading', { name: 'The hook shop-issues' }).waitFor()
    const address = (await textOf(page, /^Copy https?:/)).trim()
    const secret = (await textOf(page, /^Copy [\w-]{43}$/)).trim()
    const id = address.split('/').at(-1)!
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'I have kept it' }).click()

    await page.getByRole('button', { name: 'shop-issues', exact: true }).click()
    const panel = page.getByRole('complementary', { name: 'shop-issues' })
    await panel.getByText('Nothing has come yet.').waitFor()
    expect(await page.content()).not.toContain(secret)
    await panel.getByLabel('Event').fill('issues')
    await panel.getByRole('button', { name: 'Show what it would do' }).click()
    await panel.getByText('Look at ⟦Login fails⟧', { exact: true }).waitFor()
    expect((await w.call('GET', '/tasks')).body.items).toEqual([])

    expect((await fromGitHub(served(), { id, secret })).status).toBe(200)
    await panel.getByRole('link', { name: 'the task' }).waitFor()
    await fromGitHub(served(), { id, secret: 'wrong' })
    await panel.getByText('Its X-Hub-Signature-256 is wrong.').waitFor()
    await panel.getByRole('button', { name: 'Pause' }).click()
    await panel.getByRole('button', { name: 'Resume' }).waitFor()
    await fromGitHub(served(), { id, secret })
    await panel.getByText('The hook is paused.').waitFor()
    await panel.getByRole('link', { name: 'the task' }).click()
    await page.getByRole('heading', { name: /Look at ⟦Login fails⟧/ }).waitFor()
  },
)

test.skipIf(!isHere)('what is written of a hook is kept until it is made or discarded', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/webhooks')
  await page.getByText('No other program can ask for work').waitFor()
  await page.keyboard.press('h')
  await page.getByLabel('Name').fill('kept')
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.keyboard.press('h')
  expect(await page.getByLabel('Name').inputValue()).toBe('kept')
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.keyboard.press('h')
  expect(await page.getByLabel('Name').inputValue()).toBe('')
})

test.skipIf(!isHere)('a hook starts a routine with the variables that it has', async () => {
  const w = await workspace()
  const plan = { tasks: [{ tempId: 'a', title: 'Look at {{what}}' }] }
  const variables = { properties: { what: { type: 'string' } } }
  const routine = await w.post('/routines', { name: 'Answer', plan, variables })
  expect(routine.status).toBe(201)
  const { page } = await openPage(w, '/webhooks')
  await page.getByText('No other program can ask for work').waitFor()
  await page.keyboard.press('h')
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('answers')
  await dialog.getByText('starts a routine').click()
  await dialog.getByLabel('Routine', { exact: true }).selectOption('Answer')
  await dialog.getByLabel('what', { exact: true }).fill('/issue/title')
  await dialog.getByRole('button', { name: 'Make the hook' }).click()
  await page.getByRole('button', { name: 'I have kept it' }).click()
  const [hook] = (await w.call('GET', '/hooks')).body.items
  expect(hook.does).toEqual({
    ...{ kind: 'routine', routine: routine.body.id, variables: { what: '/issue/title' } },
  })
})

test.skipIf(!isHere)(
  'a webhook is added, tried, fails in its receiver’s words, and is sent again',
  async () => {
    const w = await workspace()
    const receiver = await startReceiver()
    onTestFinished(() => receiver.close())
    const { page } = await openPage(w, '/webhooks')
    await page.getByText('Nobody is told of events').waitFor()
    await page.keyboard.press('n')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill(receiver.url)
    await dialog.getByLabel('Events').fill('task_created')
    await dialog.getByLabel('Name').fill('CI of the shop')
    await dialog.getByRole('button', { name: 'Add webhook' }).click()
    await page.getByRole('button', { name: /^Copy whsec_/ }).waitFor()
    await page.getByRole('button', { name: 'I have kept it' }).click()
    await page.getByRole('button', { name: 'CI of the shop', exact: true }).click()
    const panel = page.getByRole('complementary', { name: 'CI of the shop' })
    await panel.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('The receiver answered 200.').waitFor()
    await receiver.gets(1)

    receiver.answers((_received, response) => response.writeHead(410).end('We have moved.'))
    await w.make()
    await panel.getByText('Its receiver said that it is gone.').waitFor()
    const sent = panel.getByRole('listitem').filter({ hasText: 'task_created' })
    await sent.getByText('task_created').click()
    await sent.getByText('We have moved.').waitFor()
    receiver.answers(ok)
    await panel.getByRole('button', { name: 'Resume' }).click()
    await sent.getByRole('button', { name: 'Send again' }).click()
    await sent.getByText('Delivered').waitFor()
    const deliveries = await receiver.gets(2, ({ body }) => body.type === 'task_created')
    expect(new Set(deliveries.map(({ id }) => id)).size).toBe(1)
  },
)
