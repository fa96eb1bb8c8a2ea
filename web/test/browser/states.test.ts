import type { Route } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { axe } from '../../../test/support/browser/axe.ts'
import { type Filled, fillWorkspace } from '../../../test/support/browser/fixture.ts'
import type { OpenedPage } from '../../../test/support/browser/open-page.ts'
import { PAGES } from '../../../test/support/browser/pages.ts'
import { useBrowser } from '../../../test/support/browser/use-browser.ts'
import type { Workspace } from '../../../test/support/http-workspace.ts'

/** Every page while it has nothing to show: before the first answer, after a refusal, and in a new workspace. */

const { isHere, workspace, prepare, openPage } = useBrowser()

let w: Workspace
let made: Filled
beforeAll(async () => {
  if (!isHere) return
  w = await workspace()
  made = await fillWorkspace(w)
})

/** The page's own calls. Without those of the frame there would be no page. */
const OWN_CALLS = /\/api\/v1\/(?!session|events)/

const BROKEN = {
  type: 'urn:baton:error:INTERNAL',
  title: 'Something went wrong',
  status: 500,
  code: 'INTERNAL',
  detail: 'The disk is full.',
}

/** Opens the page with its own calls answered in this way, and closes it in the end. */
async function whenCalls(
  path: string,
  answer: (route: Route) => unknown,
  act: (opened: OpenedPage) => Promise<void>,
) {
  const opened = await prepare(w)
  try {
    await opened.page.route(OWN_CALLS, answer)
    opened.page.goto(opened.address(path)).catch(() => undefined)
    await act(opened)
  } finally {
    await opened.close()
  }
}

describe.skipIf(!isHere).each(PAGES)('the page $name', ({ path, isOfOneThing, isStatic }) => {
  test.skipIf(isStatic)('says while it loads that it does, and nothing else', () =>
    whenCalls(
      path(made),
      () => undefined,
      async ({ page }) => {
        await page.locator('[aria-busy="true"]').first().waitFor()
        expect(await axe(page)).toEqual([])
      },
    ),
  )

  test.skipIf(isStatic)('says what went wrong, and can try again', () =>
    whenCalls(
      path(made),
      (route) => route.fulfill({ status: 500, contentType: 'application/problem+json', json: BROKEN }),
      async ({ page }) => {
        await page.getByText(BROKEN.detail).first().waitFor()
        expect(await page.getByRole('button', { name: 'Try again' }).count()).toBeGreaterThan(0)
        expect(await axe(page)).toEqual([])
        await page.unroute(OWN_CALLS)
        await page.getByRole('button', { name: 'Try again' }).first().click()
        await page.getByText(BROKEN.detail).first().waitFor({ state: 'detached' })
      },
    ),
  )

  test.skipIf(isStatic || isOfOneThing)('explains itself in a new workspace', async () => {
    const opened = await openPage(await workspace(), path(made))
    expect(await axe(opened.page)).toEqual([])
    expect(await opened.overflow()).toBe(0)
  })

  test.skipIf(!isOfOneThing)('says that it is not there, when it is in another workspace', async () => {
    const opened = await prepare(await workspace())
    opened.expected.push(/404/)
    try {
      await opened.goto(path(made))
      await opened.page
        .getByText(/not in this workspace/i)
        .first()
        .waitFor()
      expect([await axe(opened.page), opened.faults]).toEqual([[], []])
    } finally {
      await opened.close()
    }
  })
})
