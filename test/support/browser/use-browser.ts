import { type Browser, chromium } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, expect, inject, onTestFinished } from 'vitest'
import { openWorkspace, useServer, type Workspace } from '../http-workspace.ts'
import { type Filled, fillWorkspace, type Words } from './fixture.ts'
import { type Look, type OpenedPage, preparePage } from './open-page.ts'

/** The browser of the run. Tests are skipped where there is none. */
export function useChromium() {
  const provided = inject('chromium')
  let browser: Browser
  beforeAll(async () => {
    if ('endpoint' in provided) browser = await chromium.connect(provided.endpoint)
  })
  afterAll(() => browser?.close())
  beforeEach((context) => {
    if ('skipped' in provided) context.skip(provided.skipped)
  })
  return { isHere: 'endpoint' in provided, browser: () => browser }
}

type Key = Pick<Workspace, 'ownerKey'>

/** By what is written in them. For the checks of all pages, which only look: all files that run in this process share them. */
const filled = new Map<Words | undefined, Promise<FilledWorkspace>>()
interface FilledWorkspace {
  w: Workspace
  made: Filled
}

/** The browser, a server with the app, and a workspace for each test. */
export function useBrowser() {
  const { isHere, browser } = useChromium()
  const { served, workspace } = useServer()

  /** A workspace with one of everything, in which nothing happens. */
  function filledWorkspace(words?: Words): Promise<FilledWorkspace> {
    const before = filled.get(words)
    if (before) return before
    const fill = async () => {
      const w = await openWorkspace(served())
      return { w, made: await fillWorkspace(w, words) }
    }
    const now = fill()
    filled.set(words, now)
    return now
  }

  /** A page that is still empty, signed in to the workspace. The caller closes it. */
  const prepare = ({ ownerKey: key }: Key, look?: Look): Promise<OpenedPage> =>
    preparePage(browser(), { url: served().url, key }, look)

  /** A page of the workspace. When the test ends the page is closed; whatever it did wrong fails the test. */
  async function openPage(w: Key, path: string, look?: Look): Promise<OpenedPage> {
    const opened = await prepare(w, look)
    onTestFinished(async () => {
      await opened.close()
      expect(opened.faults).toEqual([])
    })
    await opened.goto(path)
    return opened
  }

  return { isHere, browser, served, workspace, filledWorkspace, prepare, openPage }
}
