import type { Browser, BrowserContextOptions } from 'playwright-core'
import type { Place } from './open-page.ts'

interface SignedIn {
  storageState: NonNullable<BrowserContextOptions['storageState']>
  /** The path of the workspace's own pages: `/w/…`. */
  base: string
}

/** By key: a person signs in once, and then opens many pages. */
const known = new Map<string, Promise<SignedIn>>()

export function signedIn(browser: Browser, place: Place): Promise<SignedIn> {
  const before = known.get(place.key)
  if (before) return before
  const now = signInByLink(browser, place)
  known.set(place.key, now)
  return now
}

/** As people do: with a one-time link. What the app then keeps in the browser is its own affair. */
async function signInByLink(browser: Browser, { url, key }: Place): Promise<SignedIn> {
  const context = await browser.newContext()
  try {
    const page = await context.newPage()
    await page.goto(await oneTimeLink(url, key))
    await page.waitForURL(/\/w\/[^/]+/)
    const [base] = /^\/w\/[^/]+/.exec(new URL(page.url()).pathname)!
    return { storageState: await context.storageState(), base }
  } finally {
    await context.close()
  }
}

export async function oneTimeLink(url: string, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/api/v1/session/link`, { method: 'POST', headers })
  if (!answer.ok) throw new Error(`No link to sign in with: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { url: string }).url
}
