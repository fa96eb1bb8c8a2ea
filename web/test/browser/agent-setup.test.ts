import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

/** An agent is set up in the app alone: from a template, with what it can do and when it runs, and as a copy of another. */

const { isHere, workspace, openPage } = useBrowser()

test.skipIf(!isHere)(
  'an agent with a capability and a timer is made from a template, and takes the task that needs it',
  async () => {
    const w = await workspace()
    const task = await w.make({
      title: 'Port the API',
      requiredCapabilities: ['typescript'],
      taskType: 'port',
    })
    const opened = await openPage(w, '/agents/new?adapter=simulated')
    const { page } = opened
    await page.getByRole('button', { name: /^Coder/ }).click()
    await page.getByRole('radio', { name: 'Simulation' }).check()
    const name = page.getByRole('textbox', { name: 'Name', exact: true })
    expect(await name.inputValue()).toBe('coder-1')
    await name.fill('My Coder')
    await page.getByText('Use lowercase letters, digits and dashes.').waitFor()
    await page.getByRole('button', { name: 'Use my-coder' }).click()
    expect(await name.inputValue()).toBe('my-coder')
    await page.getByLabel('Capabilities').fill('typescript, sql,')
    await page.getByRole('button', { name: 'Remove capability sql' }).click()
    await page.getByRole('textbox', { name: 'Timer' }).fill('-30')
    await page.getByRole('textbox', { name: /^Steps/ }).fill('[{"result":{"done":true}}]')
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByText('It cannot be negative.').waitFor()
    expect(await axe(page)).toEqual([])
    await page.getByRole('textbox', { name: 'Timer' }).fill('30')
    await page.getByText(/^Every 30 minutes: next at \d\d:\d\d/).waitFor()

    await page.getByRole('link', { name: 'Agents' }).first().click()
    await page.getByRole('button', { name: 'New agent' }).click()
    await page.getByRole('button', { name: 'Remove capability typescript' }).waitFor()
    expect(await name.inputValue()).toBe('my-coder')
    await page.getByRole('button', { name: 'Create agent' }).click()
    await page.getByText('can do code, typescript · runs every 30 minutes', { exact: false }).waitFor()

    await w.reaches(task, 'completed')
    const figures = page.getByRole('region', { name: 'Figures' })
    await figures.getByRole('list', { name: 'Success by type of task' }).getByText('100 % of 1').waitFor()
    await page.getByText(/It waits for a task, or its timer at/).waitFor()
    expect(await axe(page)).toEqual([])
    const made = (await w.call('GET', '/agents/my-coder')).body
    expect(made).toMatchObject({
      capabilities: ['code', 'typescript'],
      runtimeConfig: { title: 'Software engineer', heartbeat: { intervalSec: 1_800 } },
      lastTest: { ok: true },
    })
    expect(opened.faults).toEqual([])
  },
)

test.skipIf(!isHere)(
  'a copy whose test fails is created only when asked, and does not look healthy',
  async () => {
    const w = await workspace()
    await w.call('PUT', '/agents/dev-1', {
      adapterType: 'simulated',
      adapterConfig: { steps: [{ result: {} }] },
      capabilities: ['code'],
    })
    const { page } = await openPage(w, '/agents/dev-1')
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Duplicate…' }).click()
    expect(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue()).toBe('dev-2')
    await page.getByText('Models to fall back to, node, fresh starts').click()
    await page.getByRole('textbox', { name: 'Node' }).fill('mars')
    await page.getByRole('button', { name: 'Create agent' }).click()
    const asked = page.getByRole('dialog', { name: 'The test failed' })
    await asked.getByText('No node is called mars at the moment', { exact: false }).waitFor()
    await asked.getByRole('button', { name: 'Back' }).click()
    expect((await w.call('GET', '/agents/dev-2')).status).toBe(404)
    await page.getByText('It names mars, and no node of that name is running.').waitFor()
    await page.getByRole('button', { name: 'Create agent' }).click()
    await asked.getByRole('button', { name: 'Create anyway' }).click()
    await page.getByText('It failed its test: node.', { exact: false }).waitFor()
    await page.getByText('Test failed', { exact: true }).waitFor()
    expect((await w.call('GET', '/agents/dev-2')).body).toMatchObject({
      capabilities: ['code'],
      lastTest: { ok: false, failed: ['node'] },
    })
  },
)

test.skipIf(!isHere)('the default prompt is shown, previewed, and can be started from', async () => {
  const w = await workspace()
  const runtimeConfig = { role: 'Repairs the web shop' }
  await w.call('PUT', '/agents/dev-1', {
    adapterType: 'simulated',
    adapterConfig: { steps: [] },
    runtimeConfig,
  })
  const { page } = await openPage(w, '/agents/dev-1?tab=prompt')
  await page.getByText('Your role: Repairs the web shop', { exact: false }).waitFor()
  await page.getByText('The default prompt is used, shown in grey.').waitFor()
  await page.getByRole('button', { name: 'Start from it' }).click()
  const editor = page.getByRole('textbox', { name: 'Template' })
  await editor.getByText('When it is done', { exact: false }).waitFor()
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('The prompt of dev-1 is saved.').waitFor()
  const { adapterConfig } = (await w.call('GET', '/agents/dev-1')).body
  expect(adapterConfig.promptTemplate).toContain('{{agent.role}}')
})
