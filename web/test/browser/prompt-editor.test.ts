import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

/** The editor of prompts: for an agent that is made, and in the form of a new one. */

const { isHere, workspace, openPage } = useBrowser()

test.skipIf(!isHere)(
  'the prompt of a new agent is written with a preview, outlives leaving the page, and is sent with the rest',
  async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/agents/new')
    await page.getByRole('radio', { name: 'Simulation' }).check()
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('dev-1')
    await page.getByRole('textbox', { name: 'Role' }).fill('Repairs the web shop')
    const prompt = page.getByRole('region', { name: 'Prompt', exact: true })
    const editor = prompt.getByRole('textbox', { name: 'Template' })
    const preview = prompt.getByRole('region', { name: 'Preview' })
    await prompt.scrollIntoViewIfNeeded()
    await prompt.getByText('The default prompt is used, shown in grey.').waitFor()
    await preview.getByText('Your role: Repairs the web shop', { exact: false }).waitFor()
    expect(await axe(page)).toEqual([])

    await prompt.getByRole('button', { name: 'Start from it' }).click()
    await editor.getByText('When it is done', { exact: false }).waitFor()
    await editor.focus()
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Do {{task.titel}} with ')
    await prompt.getByText('did you mean task.title?', { exact: false }).waitFor()
    await expect.poll(() => editor.locator('.cm-problem').allInnerTexts()).toEqual(['{{task.titel}}'])
    expect(await editor.getAttribute('aria-invalid')).toBe('true')
    expect(await axe(page)).toEqual([])
    await page.keyboard.press('Control+a')
    await page.keyboard.type('Do {{task.title}} with ')
    await prompt
      .getByRole('button', { name: /^Insert credentials.*sensitive$/ })
      .first()
      .click()
    await editor.locator('.cm-pill.cm-sensitive').waitFor()
    await prompt.getByText('is sensitive. The model reads it', { exact: false }).waitFor()
    const written = await editor.locator('.cm-pill').allInnerTexts()

    await page.getByRole('link', { name: 'Agents' }).first().click()
    await page.getByRole('button', { name: 'New agent' }).click()
    await expect.poll(() => editor.locator('.cm-pill').allInnerTexts()).toEqual(written)
    await page.reload()
    await expect.poll(() => editor.locator('.cm-pill').allInnerTexts()).toEqual(written)
    // What may be secret is kept nowhere.
    await page.getByRole('textbox', { name: /^Steps/ }).fill('[{"result":{}}]')
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByRole('heading', { name: 'dev-1' }).waitFor()
    const { adapterConfig } = (await w.call('GET', '/agents/dev-1')).body
    expect(adapterConfig.promptTemplate).toMatch(/^Do \{\{task\.title\}\} with \{\{credentials\.\w+\}\}$/)
  },
)

test.skipIf(!isHere)(
  'a prompt that cannot be read is refused at its place, and nothing is made',
  async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/agents/new?adapter=simulated')
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('dev-1')
    await page.getByRole('textbox', { name: /^Steps/ }).fill('[{"result":{}}]')
    const editor = page.getByRole('textbox', { name: 'Template' })
    await editor.focus()
    await page.keyboard.type('Do {{task.titel}}')
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByText('Some fields need correcting', { exact: false }).waitFor()
    const problem = page.getByRole('region', { name: 'Prompt', exact: true }).getByRole('alert')
    expect(await problem.innerText()).toContain('task.titel')
    expect((await editor.getAttribute('aria-describedby'))?.split(' ')).toContain(
      await problem.getAttribute('id'),
    )
    expect((await w.call('GET', '/agents/dev-1')).status).toBe(404)
  },
)

/** Types the first text, and the second in the moment between what the page draws of the first and what follows from it. */
const typeWhileDrawn = (first: string, second: string, gone: string) => `new Promise((done) => {
  const type = (text) => document.execCommand('insertText', false, text)
  new MutationObserver((_, observer) => {
    if ([...document.querySelectorAll('button')].some(({ textContent }) => textContent === '${gone}')) return
    observer.disconnect()
    type('${second}')
    done()
  }).observe(document.body, { childList: true, subtree: true })
  type('${first}')
})`

test.skipIf(!isHere)('a letter that is typed while the page draws the one before it is kept', async () => {
  const w = await workspace()
  const { page } = await openPage(w, '/agents/new?adapter=simulated')
  await page.getByRole('textbox', { name: 'Name', exact: true }).fill('dev-1')
  await page.getByRole('textbox', { name: /^Steps/ }).fill('[{"result":{}}]')
  const editor = page.getByRole('textbox', { name: 'Template' })
  await editor.focus()
  await page.evaluate(typeWhileDrawn('Do ', 'it', 'Start from it'))
  await page.getByRole('button', { name: 'Create agent' }).click()
  await page.getByRole('heading', { name: 'dev-1' }).waitFor()
  expect((await w.call('GET', '/agents/dev-1')).body.adapterConfig.promptTemplate).toBe('Do it')
})
