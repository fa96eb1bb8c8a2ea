import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Workspace } from '../../../test/support/http-workspace.ts'

/** The first minutes: Welcome, the demonstration, an agent from a program of this machine, your own program. */

const { isHere, workspace, borrowed, openPage } = useBrowser()

const HERE = { isAllowed: true, isFound: true, version: '2.1.3', login: 'in', hint: null, run: null }
const CLIS = [
  { ...HERE, adapterType: 'claude_local', command: 'claude' },
  { ...HERE, adapterType: 'codex_local', command: 'codex', login: 'out', hint: 'Run `codex login`.' },
  {
    ...{
      ...HERE,
      adapterType: 'gemini_local',
      command: 'gemini',
      isFound: false,
      version: null,
      login: null,
    },
    hint: 'Install it with `npm install -g @google/gemini-cli`.',
  },
]

/** Welcome, with these programs instead of those that happen to be on the machine of the test. */
async function welcome(w: Workspace, clis: readonly object[], dataFolder?: string) {
  const opened = await borrowed(w)
  await opened.page.route(/\/api\/v1\/onboarding$/, async (route) => {
    const response = await route.fetch()
    await route.fulfill({
      response,
      json: { ...(await response.json()), clis, ...(dataFolder && { dataFolder }) },
    })
  })
  await opened.goto('/welcome')
  return opened.page
}

test.skipIf(!isHere)(
  'a workspace in which nothing was done opens with Welcome, until the user opens another page',
  async () => {
    const opened = await openPage(await workspace(), '/')
    const { page, calls } = opened
    await page.getByRole('heading', { name: 'Welcome to Baton' }).waitFor()
    expect(page.url()).toBe(opened.address('/welcome'))
    await opened.atRest()
    expect(calls.length, calls.join('\n')).toBeLessThanOrEqual(5)
    expect(await axe(page)).toEqual([])
    await page.getByRole('link', { name: 'Overview' }).click()
    await page.getByText('Nothing is happening yet').waitFor()
    await opened.goto('/')
    await page.getByText('Nothing is happening yet').waitFor()
    await page.keyboard.press('?')
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /^Welcome/ })
      .click()
    await page.waitForURL(opened.address('/welcome'))
  },
)

test.skipIf(!isHere)('a workspace with work opens with the overview', async () => {
  const w = await workspace()
  await w.make({ title: 'Fix the login form' })
  const { page } = await openPage(w, '/')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
})

test.skipIf(!isHere)(
  'Enter runs the demonstration, and its board opens when the first task moves',
  async () => {
    const page = await welcome(await workspace(), [])
    await page.keyboard.press('Enter')
    await page.waitForURL(/\/board\?mission=/)
    await page
      .getByRole('region', { name: /In progress|Assigned|Review|Done/i })
      .first()
      .waitFor()
  },
)

test.skipIf(!isHere)(
  'an installed program becomes an agent with a folder, and is tested automatically',
  async () => {
    const w = await workspace()
    const page = await welcome(w, CLIS)
    await page.getByRole('button', { name: 'Copy codex login' }).waitFor()
    await page.getByRole('button', { name: 'Copy npm install -g @google/gemini-cli' }).waitFor()
    await page.getByRole('textbox', { name: /^Folder/ }).fill(tmpdir())
    await page.getByRole('button', { name: /^Use claude as “dev-1”/ }).click()
    const made = page.getByRole('region', { name: 'dev-1, just made' })
    await made.getByRole('list', { name: 'Checks' }).getByText('folder').waitFor()
    await made.getByText(/^dev-1 (is ready|was made, but cannot run yet)\.$/).waitFor()
    await page.getByRole('button', { name: /^Use claude as “dev-2”/ }).waitFor()
    expect(await axe(page)).toEqual([])
    expect((await w.call('GET', '/agents/dev-1')).body).toMatchObject({
      adapterType: 'claude_local',
      adapterConfig: { cwd: tmpdir() },
    })
  },
)

const hasCurl = spawnSync('curl', ['--version']).status === 0

test.skipIf(!isHere || !hasCurl)('the five lines of bash take a task and complete it', async () => {
  const w = await workspace()
  const folder = mkdtempSync(join(tmpdir(), "baton-it's-own-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const page = await welcome(w, [], folder)
  await page.getByRole('button', { name: 'Your own program' }).click()
  await page.getByText(folder, { exact: true }).waitFor()
  const lines = await page.getByRole('button', { name: /^Copy KEY=/ }).innerText()
  expect(lines.trim().split('\n')).toHaveLength(5)
  writeFileSync(join(folder, 'owner-key'), w.ownerKey)
  const task = await w.make({ title: 'Fix the login form' })
  await promisify(execFile)('bash', ['-c', lines], { cwd: tmpdir() })
  await w.reaches(task, 'completed')
})
