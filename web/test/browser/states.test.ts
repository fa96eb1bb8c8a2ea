import type { CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import type { Filled } from '../../../test/support/browser/fixture.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { PAGES } from '../../../test/support/browser/pages.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'

/** Every page while it has nothing to show: before the first answer, after a refusal, and in a new workspace. */

const { isHere, filledWorkspace, workspace, prepare } = useBrowser()

let made: Filled
/** In the workspace that has one of everything, and in one that is new. */
let [full, empty]: OpenedPage[] = []
let network: CDPSession
beforeAll(async () => {
  if (!isHere) return
  const filled = await filledWorkspace()
  made = filled.made
  full = await prepare(filled.w)
  // A failed read is retried later; the time until then can be skipped.
  await full.page.clock.install()
  network = await full.page.context().newCDPSession(full.page)
  empty = await prepare(await workspace())
})
afterAll(async () => {
  await full?.close()
  await empty?.close()
})

/** The page's own calls. Without those of the frame there would be no page: who is signed in, and the stream of events. */
const OWN_CALLS = /\/api\/v1\/(?!session($|\/ticket)|events\/)/

const BROKEN = {
  type: 'urn:baton:error:INTERNAL',
  title: 'Something went wrong',
  status: 500,
  code: 'INTERNAL',
  detail: 'The disk is full.',
}
const REFUSAL = {
  responseCode: 500,
  responseHeaders: [{ name: 'content-type', value: 'application/problem+json' }],
  body: Buffer.from(JSON.stringify(BROKEN)).toString('base64'),
}

/**
 * Opens the page while its own calls are refused, once `mayFail` is settled, until that is lifted. Not by routes of the page: with
 * them nothing is cached, and each file of the app goes through this process.
 */
async function whileRefused(
  path: string,
  mayFail: Promise<void>,
  act: (page: Page, lift: () => Promise<unknown>) => Promise<void>,
) {
  const { page, address } = full!
  const refuse = async ({ requestId, request }: { requestId: string; request: { url: string } }) => {
    const isOwn = OWN_CALLS.test(request.url)
    if (isOwn) await mayFail
    // One whose page is gone has no answer.
    await (isOwn
      ? network.send('Fetch.fulfillRequest', { requestId, ...REFUSAL })
      : network.send('Fetch.continueRequest', { requestId })
    ).catch(() => undefined)
  }
  const lift = () => network.send('Fetch.disable')
  network.on('Fetch.requestPaused', refuse)
  try {
    await network.send('Fetch.enable', { patterns: [{ urlPattern: '*/api/v1/*' }] })
    // Until the page before is gone: it may still load.
    await page.goto(address(path), { waitUntil: 'commit' })
    await act(page, lift)
  } finally {
    network.off('Fetch.requestPaused', refuse)
    await lift()
  }
}

/** In a new workspace, which has nothing of the other one. */
async function whereNothingIs(path: string, expected: RegExp[], act: (opened: OpenedPage) => Promise<void>) {
  const opened = empty!.again()
  empty = opened
  opened.expected.push(...expected)
  await opened.visit(path)
  await act(opened)
  expect([await axe(opened.page), await opened.overflow(), opened.faults]).toEqual([[], 0, []])
}

/** However often the page retries automatically before it says so. */
const says = (page: Page, words: string) =>
  expect
    .poll(async () => {
      await page.clock.fastForward(1_000)
      return page.getByText(words).count()
    })
    .toBeGreaterThan(0)

describe.skipIf(!isHere).each(PAGES)('the page $name', ({ path, isOfOneThing, isStatic }) => {
  test.skipIf(isStatic)('says that it loads, then what went wrong, and can try again', async () => {
    let fail = () => {}
    const mayFail = new Promise<void>((resolve) => {
      fail = resolve
    })
    await whileRefused(path(made), mayFail, async (page, lift) => {
      await page.locator('[aria-busy="true"]').first().waitFor()
      expect(await page.getByText(BROKEN.detail).count()).toBe(0)
      expect(await axe(page)).toEqual([])
      fail()
      await says(page, BROKEN.detail)
      expect(await page.getByRole('button', { name: 'Try again' }).count()).toBeGreaterThan(0)
      expect(await axe(page)).toEqual([])
      await lift()
      const again = page.getByRole('button', { name: 'Try again' })
      // One for the page and one for its panel, at most: each tries all that it stands for.
      for (let left = await again.count(); left > 0; left--) {
        await again.first().click()
        await expect.poll(() => page.getByText(BROKEN.detail).count()).toBeLessThan(left)
      }
    })
  })

  test.skipIf(isStatic || isOfOneThing)('explains itself in a new workspace', () =>
    whereNothingIs(path(made), [], async ({ page }) => {
      expect(await page.locator('[aria-busy="true"]').count()).toBe(0)
    }),
  )

  test.skipIf(!isOfOneThing)('says that it is not there, when it is in another workspace', () =>
    whereNothingIs(path(made), [/404/], ({ page }) =>
      page
        .getByText(/not in this workspace/i)
        .first()
        .waitFor(),
    ),
  )
})
