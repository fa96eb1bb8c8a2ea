import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import { makeMission } from '../../../test/support/http-missions.ts'
import { fence, inState, type Workspace } from '../../../test/support/http-workspace.ts'

/** Items are answered by keyboard, for what was seen and for nothing else. */

const { isHere, workspace, openPage } = useBrowser()

const proposed = (w: Workspace, title: string) =>
  makeMission(w, [{ tempId: 'a', title: 'First' }], { goal: title, title, config: {} })

const stateOf = async (w: Workspace, path: string) => (await w.call('GET', path)).body.state

/** An item takes answers only 300 ms after it was shown, by the clock of the page. */
const settled = (page: Page) =>
  page.evaluate(`new Promise((settle) => requestAnimationFrame(() => setTimeout(settle, 350)))`)

describe.skipIf(!isHere)('the inbox', () => {
  test('empties with the keyboard alone, and the title of the tab counts down', async () => {
    const w = await workspace()
    const mission = await proposed(w, 'Migrate billing')
    const task = await inState.awaiting_human(w)
    const { page } = await openPage(w, '/inbox?sort=oldest')
    await page.getByRole('button', { name: 'Approve', exact: false }).first().waitFor()
    expect(await page.title()).toContain('(2)')
    await page.getByRole('article').getByText('Approve the plan: Migrate billing').waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await expect.poll(() => stateOf(w, `/missions/${mission.id}`)).toBe('running')
    await page.getByRole('article').getByText('Review the result').waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('Nothing is waiting for you').waitFor()
    await expect.poll(() => stateOf(w, `/tasks/${task.id}`)).toBe('completed')
    await expect.poll(() => page.title()).not.toContain('(')
  })

  test('zoomed to 200 %, does not cover what is asked with its answers', async () => {
    const w = await workspace()
    const task = await w.held({ title: 'Build the pages' })
    const ask = { ...fence('s-alpha', 1), question: 'Which colour?', options: ['green', 'blue', 'red'] }
    expect((await w.on(task, 'ask', ask)).status).toBe(200)
    const opened = await openPage(w, '/inbox')
    const { page } = opened
    await page.setViewportSize({ width: 640, height: 400 })
    const bottomOf = async (text: string) => {
      const box = (await page.getByRole('article').getByText(text, { exact: true }).boundingBox())!
      return box.y + box.height
    }
    await expect
      .poll(async () => (await bottomOf('Which colour?')) < (await bottomOf('Your answer')))
      .toBe(true)
    expect(await opened.overflow()).toBe(0)
  })

  test('keeps no answer that is given without a network', async () => {
    const w = await workspace()
    const mission = await proposed(w, 'Migrate billing')
    const { page, calls, expected } = await openPage(w, '/inbox')
    expected.push(/WebSocket|ERR_/)
    const pill = page.locator('header [role="status"]')
    await page.getByRole('article').waitFor()
    await page.context().setOffline(true)
    await pill.getByText(/^offline/).waitFor()
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('Nothing was sent').waitFor()
    await page.context().setOffline(false)
    await pill.getByText(/^live/).waitFor()
    await page.getByRole('article').getByText('Approve the plan: Migrate billing').waitFor()
    expect(await stateOf(w, `/missions/${mission.id}`)).toBe('awaiting_approval')
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('Nothing is waiting for you').waitFor()
    expect(calls.filter((call) => call.startsWith('POST /inbox/'))).toHaveLength(1)
  })

  test('does not answer an item that changed while it was read', async () => {
    const w = await workspace()
    const mission = await proposed(w, 'Migrate billing')
    const opened = await openPage(w, '/inbox')
    // The refused answer; and, if the event of the new plan comes first, the item on the page, which no longer exists.
    opened.expected.push(/409/, /404 .*\/inbox\/plan/)
    const { page } = opened
    await page.getByRole('article').waitFor()
    // The answer is on its way while the plan changes.
    await page.route('**/api/v1/inbox/*/answer', async (route) => {
      const plan = { tasks: [{ tempId: 'a', title: 'Another' }] }
      expect((await w.call('PUT', `/missions/${mission.id}/plan`, plan)).status).toBe(200)
      await route.continue()
    })
    await settled(page)
    await page.keyboard.press('a')
    await page.getByText('It changed while you were reading').waitFor()
    await page.getByText('Since version 1').waitFor()
    expect(await stateOf(w, `/missions/${mission.id}`)).toBe('awaiting_approval')
  })
})

/** People are asked a second after nobody came; not again while a test looks at what they answered. */
const SOON = { verifyTimeoutSeconds: 1 }
const LATE = { verifyTimeoutSeconds: 3_600 }

/** A result of alpha that waits for the judge, which is paused. */
async function unjudged(w: Workspace, title: string) {
  await w.call('PUT', '/agents/judge', { adapterType: 'external' })
  await w.post('/agents/judge/pause')
  const task = await w.held({ title, verification: { kind: 'agent', agent: 'judge' } })
  expect((await w.on(task, 'submit', { ...fence('s-alpha', 1), result: 'a text' })).status).toBe(200)
  return task
}

describe.skipIf(!isHere)('an open inbox, without being read again,', () => {
  /** The page is open and empty before anything waits. */
  async function openInbox(w: Workspace, path = '/inbox') {
    const opened = await openPage(w, path)
    await opened.page.getByText('Nothing is waiting for you').waitFor()
    return opened
  }
  const decide = (page: Page, name: string) => page.getByRole('article').getByRole('button', { name }).click()
  const isEmpty = (page: Page) => page.getByText('Nothing is waiting for you').waitFor()

  test('shows a verification that nobody makes, which a person decides', async () => {
    const w = await workspace(SOON)
    const { page } = await openInbox(w)
    const task = await unjudged(w, 'Write a text')
    await page.getByRole('article').getByText('No verdict: judge is paused').waitFor()
    await expect.poll(() => page.title()).toContain('(1)')
    await settled(page)
    await decide(page, 'Approve')
    await isEmpty(page)
    await expect.poll(() => stateOf(w, `/tasks/${task.id}`)).toBe('completed')
    await expect.poll(() => page.title()).not.toContain('(')
  })

  test('lets another agent verify a result that its judge does not', async () => {
    const w = await workspace(SOON)
    await w.call('PUT', '/agents/other', { adapterType: 'external' })
    const { page } = await openInbox(w)
    const task = await unjudged(w, 'Write a text')
    await page.getByRole('article').waitFor()
    await w.setLimits(LATE)
    await settled(page)
    await decide(page, 'Let another agent verify')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Who judges it').selectOption('other')
    await dialog.getByRole('button', { name: 'Let another agent verify' }).click()
    await isEmpty(page)
    await expect.poll(() => stateOf(w, `/tasks/${task.id}`)).toBe('verifying')
    const judges = async () => {
      const { verifications } = await w.read(task)
      const tasks = verifications.map(({ taskId }: { taskId: string }) => w.read({ id: taskId }))
      return (await Promise.all(tasks)).map(({ agent }) => agent)
    }
    await expect.poll(judges).toContain('other')
  })

  test('resumes a judge that is paused, and the result is verified', async () => {
    const w = await workspace(SOON)
    const { page } = await openInbox(w)
    const task = await unjudged(w, 'Write a text')
    await page.getByRole('article').waitFor()
    await w.setLimits(LATE)
    await settled(page)
    await decide(page, 'Resume judge and verify')
    await isEmpty(page)
    await expect.poll(() => stateOf(w, `/tasks/${task.id}`)).toBe('verifying')
    expect(await stateOf(w, '/agents/judge')).toBe('idle')
  })

  test('shows a task that nobody takes, and takes it off the list when an agent can take it', async () => {
    const w = await workspace(SOON)
    const { page } = await openInbox(w)
    const badge = page.getByRole('navigation').getByRole('link', { name: /^Inbox/ })
    await w.make({ title: 'Port the ledger', requiredCapabilities: ['cobol'] })
    await page.getByRole('article').getByText('No agent takes: Port the ledger').waitFor()
    await expect.poll(() => page.title()).toContain('(1)')
    await expect.poll(() => badge.first().innerText()).toContain('1')
    await w.call('PUT', '/agents/old-hand', { adapterType: 'external', capabilities: ['cobol'] })
    await page.getByText('An agent can take it again.').first().waitFor()
    await isEmpty(page)
    await expect.poll(() => page.title()).not.toContain('(')
  })

  test('counts a task that nobody takes on other pages, too', async () => {
    const w = await workspace(SOON)
    const { page } = await openPage(w, '/board')
    await page
      .getByRole('button', { name: /^New task/ })
      .first()
      .waitFor()
    expect(await page.title()).not.toContain('(')
    await w.make({ title: 'Port the ledger', agent: 'nobody' })
    await expect.poll(() => page.title()).toContain('(1)')
    // Its card says why it does not move.
    await page.getByText('There is no agent nobody').waitFor()
  })

  test('lets any agent take what is reserved for one that is gone', async () => {
    const w = await workspace(SOON)
    const { page } = await openInbox(w)
    const task = await w.make({ title: 'Port the ledger', agent: 'nobody' })
    await page.getByRole('article').getByText('nobody is not there').waitFor()
    await settled(page)
    await decide(page, 'Let any agent take it')
    await isEmpty(page)
    await expect.poll(async () => (await w.read(task)).agent).toBeNull()
  })

  test('shows an outcome, takes what is missing, and then accepts it', async () => {
    const w = await workspace()
    const { page } = await openInbox(w)
    const config = { autonomy: 'full_auto', acceptance: 'human' }
    const mission = await makeMission(w, [{ tempId: 'a', title: 'First' }], { title: 'Two texts', config })
    const { claims } = await w.next()
    await w.on({ id: claims[0].taskId }, 'submit', { ...fence('s-alpha', 1), result: 'a text' })
    const article = page.getByRole('article')
    await article.getByText('Accept the outcome: Two texts').waitFor()
    await settled(page)
    await decide(page, 'Reject, and plan it myself')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('What is missing').fill('The second text')
    await dialog.getByRole('button', { name: 'Reject, and plan it myself' }).click()
    await expect
      .poll(async () =>
        (await w.call('GET', '/inbox')).body.items.map(({ reason }: { reason: string }) => reason),
      )
      .toEqual(['The second text'])
    await page.goto(page.url())
    await article.getByText('The second text').waitFor()
    expect(await stateOf(w, `/missions/${mission.id}`)).toBe('running')
    await settled(page)
    await decide(page, 'Accept')
    await isEmpty(page)
    await expect.poll(() => stateOf(w, `/missions/${mission.id}`)).toBe('completed')
  })
})

test.skipIf(!isHere)('a mission is approved on its page as the version that is shown', async () => {
  const w = await workspace()
  const mission = await proposed(w, 'Migrate billing')
  const { page } = await openPage(w, `/missions/${mission.id}`)
  await page.getByRole('button', { name: 'Approve version 1' }).click()
  await expect.poll(() => stateOf(w, `/missions/${mission.id}`)).toBe('running')
  await page.getByText('Version 1 of the plan is waiting for you').waitFor({ state: 'detached' })
})
