import type { Page } from 'playwright-core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'
import { until } from '../../../test/support/nodes.ts'

/** A run and its log, as a person reads them. */

const { isHere, workspace, openPage } = useBrowser()

const lines = (from: number, count: number, text = 'of a busy run') =>
  Array.from({ length: count }, (_, at) => `line ${from + at} ${text}`).join('\n')

/** A run of a simulated agent with this script, and its id. */
async function runOf(w: Workspace, steps: readonly Json[]): Promise<string> {
  await w.call('PUT', '/agents/talker', { adapterType: 'simulated', adapterConfig: { steps } })
  await w.make({ title: 'Talk', agent: 'talker', maxRetries: 0 })
  return until(async () => {
    const { items } = (await w.call('GET', '/runs')).body
    return items.find((run: Json) => run.startedAt !== null)?.id
  })
}

const isOver = (w: Workspace, run: string) =>
  until(async () => (await w.call('GET', `/runs/${run}`)).body.finishedAt ?? undefined)

const log = (page: Page) => page.getByRole('region', { name: 'Log' })

/** Where on the screen the line with this text is. */
const topOf = async (page: Page, text: string) =>
  (await log(page).getByText(text, { exact: true }).boundingBox())?.y

describe.skipIf(!isHere)('a run at work', () => {
  test('says what it does in the colour it names, on its page, its timeline, the overview and the watch page', {
    timeout: 180_000,
  }, async () => {
    const w = await workspace()
    const run = await runOf(w, [
      { status: 'Tests are red', color: 'red' },
      { status: 'Reads the files', color: 'green' },
      { waitMs: 600_000 },
    ])
    onTestFinished(async () => {
      await w.post(`/runs/${run}/cancel`)
    })
    const { page, address } = await openPage(w, `/runs/${run}?view=timeline`)
    const colours = (words: string) =>
      page.evaluate<string[]>(`[...document.querySelectorAll('main span')]
        .filter((one) => one.textContent === ${JSON.stringify(words)} && one.checkVisibility())
        .map((one) => getComputedStyle(one).color)`)
    const token = (name: string) =>
      page.evaluate<string>(`(() => {
        const probe = document.body.appendChild(document.createElement('i'))
        probe.style.color = 'var(--${name})'
        return getComputedStyle(probe).color
      })()`)
    const [green, red] = [await token('done'), await token('bad')]
    expect(green).not.toBe(red)
    await page.getByText('Reads the files').first().waitFor()
    expect(await colours('Tests are red')).toContain(red)
    expect(await colours('Reads the files')).toContain(green)
    for (const path of [`/runs/${run}?view=raw`, '/', '/watch']) {
      await page.goto(address(path))
      await page.getByText('Reads the files').first().waitFor()
      expect(await colours('Reads the files'), path).toContain(green)
    }
  })
})

describe.skipIf(!isHere)('the log of a run', () => {
  test('is followed until the reader moves away; then the line being read stays in place', {
    timeout: 180_000,
  }, async () => {
    const w = await workspace()
    const more = Array.from({ length: 400 }, (_, at) => [{ waitMs: 300 }, { say: lines(1_001 + at * 5, 5) }])
    const run = await runOf(w, [{ say: lines(1, 1_000) }, ...more.flat()])
    onTestFinished(async () => {
      await w.post(`/runs/${run}/cancel`)
    })
    const { page } = await openPage(w, `/runs/${run}?view=raw`)
    await page.getByRole('button', { name: 'following' }).waitFor()
    await log(page).hover()
    await page.mouse.wheel(0, -3_000)
    const pill = page.getByRole('button', { name: /\d+ new lines?/ })
    await pill.waitFor()
    const seen = (await log(page).innerText()).match(/line \d+ of a busy run/g)![10]!
    const before = await topOf(page, seen)
    const count = await pill.innerText()
    await expect.poll(() => pill.innerText()).not.toBe(count)
    expect(await topOf(page, seen)).toBe(before)
    await page.keyboard.press('End')
    await page.getByRole('button', { name: 'following' }).waitFor()
    await expect.poll(() => log(page).getByText(seen, { exact: true }).count()).toBe(0)
  })

  test('is searched as a whole, and a link leads to the same line', { timeout: 180_000 }, async () => {
    const w = await workspace()
    const run = await runOf(w, [
      ...Array.from({ length: 30 }, (_, at) => ({ say: lines(at * 1_000, 1_000, 'with nothing to find') })),
      { say: 'the Needle' },
      { say: lines(30_000, 1_000, 'after it') },
      { say: 'another needle' },
      { result: {} },
    ])
    await isOver(w, run)
    const { page } = await openPage(w, `/runs/${run}?view=raw&at=0`)
    // The log itself, not the excerpt before it: what is searched is shown in it.
    await page.getByRole('region', { name: 'Log', exact: true }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('needle')
    await page.getByText('2 hits').waitFor()
    await page.keyboard.press('Enter')
    await page.getByText('1 of 2').waitFor()
    await log(page).getByText('Needle', { exact: true }).waitFor()
    const { page: elsewhere } = await openPage(
      w,
      new URL(page.url()).pathname.replace(/^\/w\/[^/]+/, '') + new URL(page.url()).search,
    )
    await log(elsewhere).getByText('Needle', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Match case' }).click()
    await page.getByText('1 hit', { exact: true }).waitFor()
  })

  test('shows markup as text, and a progress bar as one line', async () => {
    const w = await workspace()
    const run = await runOf(w, [
      { say: '<img src=x onerror=alert(1)><script>alert(2)</script>' },
      { say: 'Downloading 10 %\rDownloading 100 %' },
      { say: '\u001b]8;;javascript:alert(3)\u0007click\u001b]8;;\u0007 \u001b[31mred\u001b[0m' },
      { result: {} },
    ])
    await isOver(w, run)
    const { page } = await openPage(w, `/runs/${run}?view=raw`)
    await log(page).getByText('<img src=x onerror=alert(1)>').waitFor()
    await log(page).getByText('Downloading 100 %', { exact: true }).waitFor()
    await log(page).getByText('red', { exact: true }).waitFor()
    expect(await log(page).locator('img, script, a').count()).toBe(0)
  })
})

describe.skipIf(!isHere)('a run', () => {
  test('that failed says why and what helps, and its failed step is open and leads to its bytes', async () => {
    const w = await workspace()
    const run = await runOf(w, [
      { say: 'Error: the disk is full' },
      { say: lines(1, 400) },
      { fail: { code: 'not_logged_in', message: 'Log in first' } },
    ])
    await isOver(w, run)
    const { page } = await openPage(w, `/runs/${run}`)
    const why = page.getByRole('region', { name: 'Why it ended' })
    await why.getByText('The agent is not logged in, or its key was rejected').waitFor()
    await why.getByText('talker is stopped').waitFor()
    await why.getByRole('button', { name: 'Resume talker' }).waitFor()
    // The first page has only its last steps: earlier ones are read to find it.
    await page.getByLabel('Find in the steps').fill('DISK')
    await page.getByText(/^1 of \d+$/).waitFor()
    await page.getByLabel('Find in the steps').press('Escape')
    await page.getByRole('button', { name: 'Show in the log' }).first().click()
    await log(page).getByText('Error: the disk is full').waitFor()
    expect(new URL(page.url()).searchParams.get('at')).not.toBe(null)
  })

  test('says what it was told: prompt, command and names of variables, without secrets', async () => {
    const w = await workspace()
    const secret = 'planted-Zx81kQ-secret'
    await w.call('PUT', '/agents/teller', {
      adapterType: 'process',
      adapterConfig: {
        command: process.execPath,
        args: ['--eval', 'console.log(JSON.stringify({ result: 1 }))'],
        env: { API_KEY: secret, REGION: 'north' },
        promptTemplate: `Say {{task.title}} <b>boldly</b> with ${secret}.\n${'One more line.\n'.repeat(200)}`,
      },
    })
    await w.make({ title: 'hello', agent: 'teller' })
    const run = await until(async () => (await w.call('GET', '/runs')).body.items[0]?.id)
    await isOver(w, run)
    const { page } = await openPage(w, `/runs/${run}`)
    await page.getByRole('radio', { name: 'Details' }).check()
    const told = page.getByRole('region', { name: 'What was it told?' })
    await told.getByText('Say hello <b>boldly</b> with [redacted].').waitFor()
    await told.getByText(`${process.execPath} --eval 'console.log`).waitFor()
    const text = await told.innerText()
    expect(text).toMatch(/Environment.*API_KEY.*REGION/s)
    for (const value of [secret, 'north']) expect(text).not.toContain(value)
    // It scrolls by itself, and is copied whole.
    const prompt = told.locator('pre').first()
    expect(await prompt.evaluate((node) => node.scrollHeight > node.clientHeight)).toBe(true)
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await told.getByRole('button', { name: 'Copy prompt' }).click()
    await told.getByText('Copied').waitFor()
    const copied = await page.evaluate('navigator.clipboard.readText()')
    expect(copied).toMatch(/^Say hello <b>boldly<\/b> with \[redacted\]\.\n(One more line\.\n){200}/)
    expect(await axe(page)).toEqual([])
  })

  test('is stopped after a confirmation', async () => {
    const w = await workspace()
    const run = await runOf(w, [{ say: 'I wait' }, { waitMs: 600_000 }])
    const { page } = await openPage(w, `/runs/${run}`)
    await page.keyboard.press('s')
    await page.getByRole('dialog').getByRole('button', { name: 'Stop the run' }).click()
    await page.getByText('Cancelled').first().waitFor()
    expect((await w.call('GET', `/runs/${run}`)).body.status).toBe('cancelled')
  })

  test('is on the wall with its earlier output, distinguishes repetition from progress, and is stopped', async () => {
    const w = await workspace()
    const call = { say: '{"baton":"call","signature":"Bash curl localhost"}' }
    const run = await runOf(w, [call, call, call, { waitMs: 600_000 }])
    await until(async () => /(curl.*){3}/s.test((await w.call('GET', `/runs/${run}/log`)).body.content))
    const { page } = await openPage(w, '/watch')
    const tile = page.getByRole('article', { name: 'talker: Talk' })
    await tile.getByText('same call 3 times').waitFor()
    expect(await tile.getByText('$ curl localhost').count()).toBe(3)
    expect(await tile.innerText()).not.toContain('signature')
    expect(await axe(page)).toEqual([])
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('s')
    await page.getByRole('dialog').getByRole('button', { name: 'Stop the run' }).click()
    await tile.getByText('Cancelled', { exact: true }).waitFor()
  })

  test('appears in the list of runs while it is open', async () => {
    const w = await workspace()
    const { page } = await openPage(w, '/runs')
    await page.getByText('No runs yet').waitFor()
    await runOf(w, [{ say: 'Hello' }, { result: {} }])
    await page.getByRole('table', { name: 'Runs' }).getByText('Succeeded').waitFor()
  })
})

test.skipIf(!isHere)('the timeline of a run is read beyond its first 200 events, to its end', async () => {
  const w = await workspace()
  const said = Array.from({ length: 420 }, (_, at) => ({ status: `says ${at + 1}` }))
  const run = await runOf(w, [...said, { result: 1 }])
  await isOver(w, run)
  const { page } = await openPage(w, `/runs/${run}?view=timeline`)
  const events = page.getByRole('listitem')
  const readOn = page.getByRole('button', { name: 'Read on' })
  await page.getByText('These are the first 200 events.').waitFor()
  await readOn.click()
  await page.getByText('These are the first 400 events.').waitFor()
  await readOn.click()
  await events.getByText('says 420', { exact: true }).waitFor()
  await events.getByText('says 1', { exact: true }).waitFor()
  await expect.poll(() => readOn.count()).toBe(0)
})
