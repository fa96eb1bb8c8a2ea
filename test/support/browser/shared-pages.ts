import type { Browser, BrowserContext, Page } from 'playwright-core'
import { type Look, newContext, OpenedPage, type Place } from './open-page.ts'
import { signedIn } from './sign-in.ts'

/**
 * Pages that the tests of this process get one after the other. In a tab that has shown the app before, it costs a third of what it
 * costs in a new browser: its files are in the cache, and its scripts are compiled.
 */
interface Tab {
  context: BrowserContext
  page: Page
  viewport: ReturnType<Page['viewportSize']>
}

/** Those that no test has, by server and look. */
const free = new Map<string, Tab[]>()

const nameOf = (url: string, look: Look) => `${url} ${JSON.stringify(look)}`

/** Of the app's origin, but not the app. */
const ELSEWHERE = '/health/live'

export interface LentPage {
  opened: OpenedPage
  /** Nothing of the test stays in it. After a failure nobody knows what it left: the page is not used again. */
  giveBack(hasFailed: boolean): Promise<void>
}

/** A page without cookies and without anything stored but the session of the place; without a key, that of a stranger. */
export async function lendPage(
  browser: Browser,
  { url, key }: Pick<Place, 'url'> & Partial<Place>,
  look: Look = {},
): Promise<LentPage> {
  const name = nameOf(url, look)
  const tab = free.get(name)?.pop() ?? (await newTab(browser, url, look))
  const { context, page } = tab
  const { storageState, base } = key ? await signedIn({ url, key }) : STRANGER
  await context.clearCookies()
  await context.addCookies(storageState.cookies)
  const kept = storageState.origins.flatMap(({ localStorage }) => localStorage)
  await page.evaluate(`localStorage.clear(); sessionStorage.clear()
    for (const { name, value } of ${JSON.stringify(kept)}) localStorage.setItem(name, value)`)
  const opened = new OpenedPage(context, page, url, base)
  return {
    opened,
    async giveBack(hasFailed) {
      opened.leave()
      if (hasFailed) return context.close()
      await rest(tab, url)
      free.set(name, [...(free.get(name) ?? []), tab])
    },
  }
}

const STRANGER = { base: '', storageState: { cookies: [], origins: [] } } satisfies Awaited<
  ReturnType<typeof signedIn>
>

async function newTab(browser: Browser, url: string, look: Look): Promise<Tab> {
  const context = await newContext(browser, look)
  const page = await context.newPage()
  page.addInitScript = page.routeWebSocket = page.clock.install = refuse
  await page.goto(url + ELSEWHERE)
  return { context, page, viewport: page.viewportSize() }
}

/** What cannot be undone. */
const refuse = () =>
  Promise.reject(new Error('Other tests get this page, too: prepare() one for this test alone.'))

/** Ends what the page does, and what the test set. */
async function rest({ context, page, viewport }: Tab, url: string): Promise<void> {
  const [first, ...others] = context.pages()
  if (first !== page || others.length > 0)
    throw new Error('A test has opened other pages in a shared browser.')
  // A request that is still answered by the test would fail when its page is gone.
  await page.unrouteAll({ behavior: 'wait' })
  await page.goto(url + ELSEWHERE)
  await page.emulateMedia({ colorScheme: null })
  if (page.viewportSize()?.width !== viewport?.width) await page.setViewportSize(viewport!)
}
