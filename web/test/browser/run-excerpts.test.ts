import { expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Json, Workspace } from '../../../test/support/http-workspace.ts'
import { until } from '../../../test/support/nodes.ts'

/** What the record of a run keeps of its output, while its log is not there to be read. */

const { isHere, workspace, openPage } = useBrowser()

const SCRIPT = 'echo Compiling 4 files; echo ENOSPC: no space left >&2; exit 3'

/** A run that printed something as output and something as errors, and is over. */
async function failedRun(w: Workspace): Promise<string> {
  await w.call('PUT', '/agents/builder', {
    adapterType: 'process',
    adapterConfig: { command: 'sh', args: ['-c', SCRIPT], promptTemplate: '{{task.title}}' },
  })
  await w.make({ title: 'Build', agent: 'builder', maxRetries: 0 })
  return until(async () => {
    const { items } = (await w.call('GET', '/runs')).body
    return items.find((run: Json) => run.finishedAt !== null)?.id
  })
}

/** Holds requests back until they are let go. */
function held(): { gate: Promise<void>; open: () => void } {
  let open = () => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  return { gate, open }
}

test.skipIf(!isHere)('both streams are read in the raw log before it has come', async () => {
  const w = await workspace()
  const run = await failedRun(w)
  const { page, address } = await openPage(w, '/runs')
  const { gate, open } = held()
  await page.route(`**/runs/${run}/log?*`, async (route) => {
    await gate
    await route.continue()
  })
  await page.goto(address(`/runs/${run}?view=raw`))
  const [output, errors] = [
    page.getByRole('region', { name: 'Output' }),
    page.getByRole('region', { name: 'Errors' }),
  ]
  await output.getByText('Compiling 4 files').waitFor()
  await errors.getByText('ENOSPC: no space left').waitFor()
  expect(await axe(page)).toEqual([])
  open()
  const log = page.getByRole('region', { name: 'Log' })
  await log.getByText('ENOSPC: no space left').waitFor()
  await errors.waitFor({ state: 'detached' })
})

test.skipIf(!isHere)('both streams are among the steps before the transcript has come', async () => {
  const w = await workspace()
  const run = await failedRun(w)
  const { page, address } = await openPage(w, '/runs')
  const { gate, open } = held()
  await page.route(`**/runs/${run}/transcript?*`, async (route) => {
    await gate
    await route.continue()
  })
  await page.goto(address(`/runs/${run}`))
  const busy = page.locator('[aria-busy="true"][inert]')
  await busy.getByText('Compiling 4 files').first().waitFor()
  await busy.getByText('ENOSPC: no space left').first().waitFor()
  open()
  await page.getByRole('region', { name: 'Steps' }).getByText('ENOSPC').first().waitFor()
  expect(await busy.count()).toBe(0)
})

test.skipIf(!isHere)(
  'both streams stay on the page when the log cannot be read, until it can again',
  async () => {
    const w = await workspace()
    const run = await failedRun(w)
    for (const [view, path] of [
      ['raw', `**/runs/${run}/log?*`],
      ['transcript', `**/runs/${run}/transcript?*`],
    ] as const) {
      const opened = await openPage(w, '/runs')
      opened.expected.push(/500/)
      const { page, address } = opened
      await page.route(path, (route) => route.fulfill({ status: 500, body: '{}' }))
      await page.goto(address(`/runs/${run}?view=${view}`))
      const kept = page.getByRole('region', { name: 'What the record has of the log' })
      await kept.getByText('Compiling 4 files').waitFor()
      await kept.getByText('ENOSPC: no space left').waitFor()
      expect(await axe(page)).toEqual([])
      await page.unroute(path)
      await page.getByRole('button', { name: 'Try again' }).click()
      await kept.waitFor({ state: 'detached' })
    }
  },
)
