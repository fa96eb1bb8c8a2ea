import { expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { fence, type Json } from '../../../test/support/http-workspace.ts'

/** A person changes tasks, reads what happened to them and talks to those who work on them. */

const { isHere, workspace, openPage } = useBrowser()

test.skipIf(!isHere)(
  'a task is edited and duplicated with the keyboard and the menu, and each says what was changed',
  async () => {
    const w = await workspace()
    const [first, second] = [await w.make({ title: 'Draw it' }), await w.make({ title: 'Print it' })]
    const task = await w.make({ title: 'Fold it', tags: ['paper'], dependsOn: [first.id] })
    const { page } = await openPage(w, `/tasks/${task.id}`)
    await page.getByRole('list', { name: 'Activity' }).getByText('created the task').waitFor()
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('e')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Title').fill('Fold it twice')
    await dialog.getByLabel('Type', { exact: true }).fill('crafts')
    await dialog.getByLabel('Tags').fill('paper, gift')
    await dialog.getByLabel('Depends on').fill('Print')
    await dialog.getByRole('button', { name: 'Print it' }).click()
    await dialog
      .getByRole('button', { name: /^Do not wait for/ })
      .first()
      .click()
    await page.keyboard.press('Control+Enter')
    await dialog.waitFor({ state: 'detached' })
    expect(await w.read(task)).toMatchObject({
      ...{ title: 'Fold it twice', taskType: 'crafts', tags: ['paper', 'gift'], dependsOn: [second.id] },
    })
    const activity = page.getByRole('list', { name: 'Activity' })
    await activity.getByText('title from “Fold it” to “Fold it twice”').waitFor()
    await activity.getByText('made it no longer wait for another task').waitFor()

    await page.keyboard.press('.')
    await page.getByRole('menuitem', { name: 'Duplicate…' }).click()
    await dialog.getByLabel('Create another').check()
    await dialog.getByLabel('Title').fill('Fold it again')
    await dialog.getByRole('button', { name: 'Create task' }).click()
    await expect.poll(() => dialog.getByLabel('Title').inputValue()).toBe('')
    expect(await dialog.getByLabel('Tags').inputValue()).toBe('paper, gift')
    const made = (await w.call('GET', '/tasks')).body.items.find((one: Json) => one.title === 'Fold it again')
    expect(made).toMatchObject({ taskType: 'crafts', tags: ['paper', 'gift'] })
  },
)

test.skipIf(!isHere)(
  'several tasks get a type and tags at once, and one that is worked on keeps its type',
  async () => {
    const w = await workspace()
    const [a, b] = [await w.make({ title: 'First', tags: ['old'] }), await w.held({ title: 'Second' })]
    const { page } = await openPage(w, '/board')
    for (const title of ['First', 'Second']) {
      await page.getByRole('link', { name: new RegExp(title) }).focus()
      await page.keyboard.press('x')
    }
    const bar = page.getByRole('region', { name: 'Selected tasks' })
    await bar.getByRole('button', { name: 'Change type' }).click()
    await page.getByRole('dialog').getByLabel('Type').fill('docs')
    await page.getByRole('dialog').getByRole('button', { name: 'Change type' }).click()
    await page.getByText('1 refused').waitFor()
    expect([(await w.read(a)).taskType, (await w.read(b)).taskType]).toEqual(['docs', 'other'])
    await bar.getByRole('button', { name: 'Change tags' }).click()
    await page.getByRole('dialog').getByLabel('Add').fill('new')
    await page.getByRole('dialog').getByLabel('Remove').fill('old')
    await page.getByRole('dialog').getByRole('button', { name: 'Change tags' }).click()
    await page.getByText('2 tasks changed').waitFor()
    expect([(await w.read(a)).tags, (await w.read(b)).tags]).toEqual([['new'], ['new']])
  },
)

test.skipIf(!isHere)(
  'question, answer, rejection and comment stay in the activity, and the agent at work is told at once',
  async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Port the API', verification: { kind: 'human' } })
    await w.on(task, 'ask', { ...fence('s-alpha', 1), question: 'Keep the **old** one?' })
    const { page } = await openPage(w, `/tasks/${task.id}`)
    const activity = page.getByRole('list', { name: 'Activity' })
    await page.getByRole('region', { name: 'Question' }).getByLabel('Your answer').fill('No, drop it.')
    await page.keyboard.press('Control+Enter')
    const answered = activity.getByRole('listitem').filter({ hasText: 'answered' })
    await answered.getByText('No, drop it.').waitFor()
    await answered.getByText('Keep the old one?').waitFor()

    expect((await w.claim(task)).body.reason).toBe('GRANTED')
    const tell = page.getByRole('button', { name: 'Tell the agent now' })
    await tell.waitFor()
    await page.getByLabel('Comment', { exact: true }).fill('Mind the tests.')
    await tell.click()
    await activity.getByText('told the agent').waitFor()
    const { body } = await w.on(task, 'renew', fence('s-alpha', 2))
    expect(body.messages).toMatchObject([{ text: 'Mind the tests.' }])

    await w.on(task, 'submit', { ...fence('s-alpha', 2), result: { ok: true } })
    await w.on(task, 'reject', { reason: 'No tests at all.' })
    await activity.getByText('rejected the result').waitFor()
    await activity.getByText('No tests at all.').waitFor()
    await page.getByRole('radio', { name: 'Oldest first' }).check({ force: true })
    await expect.poll(() => activity.getByRole('listitem').first().innerText()).toContain('created the task')
    expect(page.url()).toContain('order=oldest')
    await page.getByRole('tab', { name: 'Results' }).click()
    await page.getByRole('list', { name: 'Results' }).getByText('No tests at all.').waitFor()
  },
)

test.skipIf(!isHere)('an agent is woken for a task with a reason, and its run is linked', async () => {
  const w = await workspace()
  const adapterConfig = { steps: [{ result: { ok: true } }] }
  const runtimeConfig = { heartbeat: { wakeOnAssignment: false } }
  const agent = { adapterType: 'simulated', adapterConfig, runtimeConfig }
  expect(await w.call('PUT', '/agents/dev-1', agent)).toMatchObject({ status: 201 })
  const task = await w.make({ title: 'Port the API', agent: 'dev-1' })
  const { page } = await openPage(w, `/tasks/${task.id}?tab=lineage`)
  await page.getByRole('heading', { name: 'Not taken yet' }).waitFor()
  await page.getByRole('button', { name: 'All actions' }).click()
  await page.getByRole('menuitem', { name: 'Wake the agent…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('heading', { name: 'Wake dev-1' }).waitFor()
  await dialog.getByLabel('Reason').fill('The customer waits.\nBe quick.')
  await page.keyboard.press('Control+Enter')
  await dialog.getByRole('link', { name: 'Open its run' }).click()
  await page.waitForURL(/\/runs\//)
  const { items } = (await w.call('GET', '/agents/dev-1/wakeups')).body
  expect(items[0]).toMatchObject({ reason: 'The customer waits.\nBe quick.', taskId: task.id })
  await w.reaches(task, 'completed')
})
