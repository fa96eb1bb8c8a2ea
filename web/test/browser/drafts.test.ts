import { expect, test } from 'vitest'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

/** What was written is still there after another tab of the page, Esc, going back or loading the page again. */

const { isHere, workspace, openPage } = useBrowser()

const SECRET = 'only-in-memory'
const AGENT = { adapterType: 'simulated', adapterConfig: { steps: [{ result: {} }] } }

test.skipIf(!isHere)(
  'settings and prompt outlive other tabs and a reload, but not what may be secret',
  async () => {
    const w = await workspace()
    expect(await w.call('PUT', '/agents/dev-1', AGENT)).toMatchObject({ status: 201 })
    const { page } = await openPage(w, '/agents/dev-1?tab=settings')
    const [name, steps] = [page.getByRole('textbox', { name: 'Name' }), page.getByLabel(/^Steps/)]
    await name.fill('Mine')
    await steps.fill(`[{"say":"${SECRET}"}]`)
    await page.getByRole('tab', { name: 'Prompt' }).click()
    const prompt = page.getByRole('textbox', { name: 'Template' })
    await prompt.focus()
    await page.keyboard.type('Be brief.')
    await page.getByRole('tab', { name: 'Settings' }).click()
    expect([await name.inputValue(), await steps.inputValue()]).toEqual([
      'Mine',
      expect.stringContaining(SECRET),
    ])
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(SECRET)
    await page.reload()
    await expect.poll(() => name.inputValue()).toBe('Mine')
    expect(await steps.inputValue()).toContain('result')
    await page.getByRole('button', { name: 'Undo changes' }).click()
    await page.getByRole('tab', { name: 'Prompt' }).click()
    await prompt.getByText('Be brief.').waitFor()
    await page.getByRole('tab', { name: 'Settings' }).click()
    expect(await name.inputValue()).toBe('dev-1')
  },
)

test.skipIf(!isHere)(
  'a task outlives Esc, a comment another tab, a mission going back; each until it is sent or discarded',
  async () => {
    const w = await workspace()
    const task = await w.make({ title: 'Fix the login form' })
    const { page } = await openPage(w, '/board')
    const title = page.getByRole('dialog').getByLabel('Title')
    const write = async () => {
      await page.keyboard.press('c')
      await page.keyboard.press('t')
      await title.waitFor()
    }
    await write()
    await title.fill('Write the docs')
    await page.keyboard.press('Escape')
    await title.waitFor({ state: 'detached' })
    await write()
    expect(await title.inputValue()).toBe('Write the docs')
    await page.getByRole('button', { name: 'Discard' }).click()
    await title.waitFor({ state: 'detached' })
    await write()
    expect(await title.inputValue()).toBe('')
    await page.keyboard.press('Escape')

    await page.getByRole('link', { name: 'Fix the login form' }).click()
    await page.getByRole('tab', { name: 'Activity' }).click()
    const comment = page.getByLabel('Comment', { exact: true })
    await comment.fill('See the log.')
    await page.getByRole('tab', { name: 'Runs' }).click()
    await page.getByRole('tab', { name: 'Activity' }).click()
    expect(await comment.inputValue()).toBe('See the log.')
    await comment.press('Control+Enter')
    await page.getByRole('list', { name: 'Activity' }).getByText('See the log.').waitFor()
    expect(await comment.inputValue()).toBe('')
    expect((await w.call('GET', `/tasks/${task.id}/comments`)).body.items).toHaveLength(1)

    await page.getByRole('link', { name: 'Missions' }).first().click()
    await page.getByRole('button', { name: 'New mission' }).click()
    const goal = page.getByLabel('Goal')
    await goal.fill('Move billing')
    await page.goBack()
    await page.getByRole('button', { name: 'New mission' }).click()
    expect(await goal.inputValue()).toBe('Move billing')
  },
)
