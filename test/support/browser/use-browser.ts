import type { Browser } from 'playwright-core'
import { beforeAll, beforeEach, expect, inject, onTestFinished } from 'vitest'
import { startChromium } from '../chromium.ts'
import { openWorkspace, useServer, type Workspace } from '../http-workspace.ts'
import { type Filled, fillWorkspace, type Words } from './fixture.ts'
import { type Look, type OpenedPage, type Place, preparePage } from './open-page.ts'
import { lendPage } from './shared-pages.ts'

/** Of this process: all its files share it. Through one for all processes, each message would be read and written twice more. */
let shared: Promise<Browser> | undefined

/** Its profile is in a folder that the run removes: a process that ends with its last test has no time to. */
async function inScratch<T>(start: () => Promise<T>): Promise<T> {
  const { TMPDIR: usual } = process.env
  process.env.TMPDIR = inject('scratch')
  try {
    return await start()
  } finally {
    if (usual === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = usual
  }
}

/** Tests are skipped where there is no browser. */
export function useChromium() {
  const provided = inject('chromium')
  let browser: Browser
  beforeAll(async () => {
    if ('skipped' in provided) return
    shared ??= inScratch(() => startChromium(provided.program))
    browser = await shared
  })
  beforeEach((context) => {
    if ('skipped' in provided) context.skip(provided.skipped)
  })

  /** A page that no other test has at the time, still without an address. What it did wrong fails the test. */
  async function borrow(place: Pick<Place, 'url'> & Partial<Place>, look?: Look): Promise<OpenedPage> {
    const { opened, giveBack } = await lendPage(browser, place, look)
    onTestFinished(async ({ task }) => {
      await giveBack(task.result?.state === 'fail')
      expect(opened.faults).toEqual([])
    })
    return opened
  }
  return { isHere: 'program' in provided, browser: () => browser, borrow }
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
  const { isHere, browser, borrow } = useChromium()
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

  /** A page that is still empty, signed in to the workspace, in a browser context of its own. The caller closes it. */
  const prepare = ({ ownerKey: key }: Key, look?: Look): Promise<OpenedPage> =>
    preparePage(browser(), { url: served().url, key }, look)

  /** One that the tests share, signed in or not. */
  const borrowed = (w: Partial<Key>, look?: Look): Promise<OpenedPage> =>
    borrow({ url: served().url, key: w.ownerKey }, look)

  /** A page of the workspace. */
  async function openPage(w: Key, path: string, look?: Look): Promise<OpenedPage> {
    const opened = await borrowed(w, look)
    await opened.goto(path)
    return opened
  }

  return { isHere, browser, served, workspace, filledWorkspace, prepare, borrowed, openPage }
}
