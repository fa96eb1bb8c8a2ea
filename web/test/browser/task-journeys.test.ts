import { describe, expect, test } from 'vitest'
import { useChromium } from '../../../test/support/browser/use-browser.ts'
import { isGitHere } from '../../../test/support/git.ts'
import { eventually } from '../../../test/support/recovery.ts'
import { type Fleet, useFleets } from '../../../test/support/runs.ts'
import { hireWorker, workshop } from '../../../test/support/working-agent.ts'

/** What a person does with an agent at work, from the page of its task, until it has come to the agent and back. */

const { isHere, borrow } = useChromium()
const { served, fleet } = useFleets()

async function openPage(w: Fleet, path: string) {
  const opened = await borrow({ url: served().url, key: w.ownerKey })
  await opened.goto(path)
  return opened
}

/** It works until somebody has said something to it, and its result is what was said. */
const LISTENS = `
import { readFileSync } from 'node:fs'
const said = () => JSON.parse(readFileSync(process.env.BATON_REQUESTS_FILE, 'utf8')).find(({ type }) => type === 'message')
console.log('I listen.')
const timer = setInterval(() => {
  const message = said()
  if (!message) return
  clearInterval(timer)
  console.log('I heard: ' + message.text)
  console.log(JSON.stringify({ result: { heard: message.text } }))
}, 50)
`

describe.skipIf(!isHere)('from the page of a task', { timeout: 120_000 }, () => {
  test('a message reaches the agent at work, which answers it in its log and its result', async () => {
    const w = await fleet()
    await w.script('dev', LISTENS)
    const task = await w.assign('dev', { title: 'Port the API' })
    const { page } = await openPage(w, `/tasks/${task.id}`)
    await page.getByRole('tab', { name: 'Activity' }).click()
    await page.getByRole('button', { name: 'Tell the agent now' }).waitFor()
    await page.getByLabel('Comment', { exact: true }).fill('Mind the tests.')
    await page.getByRole('button', { name: 'Tell the agent now' }).click()
    const activity = page.getByRole('list', { name: 'Activity' })
    await activity.getByText('told the agent').waitFor()
    await w.taskIn(task, 'completed')
    await activity.getByRole('link', { name: /^Run / }).first().click()
    await page.getByRole('radio', { name: 'Raw log' }).check()
    await page.getByText('I heard: Mind the tests.').first().waitFor()
  })

  test('an agent is woken for it with a reason, and the page of its run says that it was told so', async () => {
    const w = await fleet()
    await w.script('dev', `console.log(JSON.stringify({ result: { ok: true } }))`, {
      runtimeConfig: { heartbeat: { wakeOnAssignment: false } },
    })
    const task = await w.make({ title: 'Port the API', agent: 'dev' })
    const { page } = await openPage(w, `/tasks/${task.id}`)
    await page.getByRole('button', { name: 'All actions' }).click()
    await page.getByRole('menuitem', { name: 'Wake the agent…' }).click()
    await page.getByRole('dialog').getByLabel('Reason').fill('The customer waits.')
    await page.keyboard.press('Control+Enter')
    await page.getByRole('dialog').getByRole('link', { name: 'Open its run' }).click()
    await page.waitForURL(/\/runs\//)
    await w.taskIn(task, 'completed')
    // Back to the task, and from the line of the run to what it was told.
    await page.getByRole('link', { name: 'Port the API' }).first().click()
    await page.getByRole('tab', { name: 'Activity' }).click()
    await page.getByRole('link', { name: 'What was it told?' }).first().click()
    const told = page.getByRole('region', { name: 'What was it told?' })
    await told.getByText('The customer waits.', { exact: false }).waitFor()
    await told.getByText('Port the API', { exact: false }).waitFor()
  })

  test.skipIf(!isGitHere)(
    'the folder of its run opens in the editor that is chosen in this browser, if one is',
    async () => {
      const w = await fleet()
      await hireWorker(w, 'dev', await workshop(w), ['done'])
      const task = await w.assign('dev', { title: 'Port the API', verification: { kind: 'human' } })
      const folder = await eventually(async () => {
        const { items } = (await w.call('GET', `/tasks/${task.id}/runs`)).body
        return items.at(0)?.finishedAt && items.at(0).folder
      })
      const { page } = await openPage(w, `/tasks/${task.id}`)
      const link = (editor: string) => page.getByRole('link', { name: `Open in ${editor}` }).first()
      for (const tab of ['Activity', 'Code']) {
        await page.getByRole('tab', { name: tab }).click()
        expect(await link('VS Code').getAttribute('href')).toBe(`vscode://file${encodeURI(folder.path)}`)
      }
      await page.getByRole('link', { name: 'Settings' }).first().click()
      await page.getByRole('radio', { name: 'Cursor' }).check({ force: true })
      await page.goBack()
      await page.getByRole('tab', { name: 'Code' }).click()
      expect(await link('Cursor').getAttribute('href')).toBe(`cursor://file${encodeURI(folder.path)}`)
      await page.getByRole('link', { name: 'Settings' }).first().click()
      await page.getByRole('radio', { name: 'None' }).check({ force: true })
      await page.goBack()
      await page.getByRole('tab', { name: 'Code' }).click()
      await page.getByText(`baton/${task.id}/gen-1`, { exact: true }).first().waitFor()
      expect(await page.getByRole('link', { name: /^Open in / }).count()).toBe(0)
    },
  )
})
