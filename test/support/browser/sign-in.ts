import type { BrowserContextOptions } from 'playwright-core'
import type { Place } from './open-page.ts'

interface SignedIn {
  storageState: Exclude<NonNullable<BrowserContextOptions['storageState']>, string>
  /** The path of the workspace's own pages: `/w/…`. */
  base: string
}

/** By key: a person signs in once, and then opens many pages. */
const known = new Map<string, Promise<SignedIn>>()

export function signedIn(place: Place): Promise<SignedIn> {
  const before = known.get(place.key)
  if (before) return before
  const now = signIn(place)
  known.set(place.key, now)
  return now
}

/** What a browser keeps after it was signed in. How a person does that is tested in a file of its own, and takes a page. */
async function signIn({ url, key }: Place): Promise<SignedIn> {
  const answer = await fetch(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { origin: url, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  if (!answer.ok) throw new Error(`Not signed in: ${answer.status} ${await answer.text()}`)
  const { workspace, pageValue } = (await answer.json()) as {
    workspace: { id: string; name: string }
    pageValue: string
  }
  const [cookie] = answer.headers.getSetCookie()
  const [, name, value, path] = /^([^=]+)=([^;]+); Path=([^;]+)/.exec(cookie ?? '')!
  const session = JSON.stringify({ ...workspace, pageValue })
  return {
    base: `/w/${workspace.id}`,
    storageState: {
      cookies: [
        {
          ...{ name: name!, value: value!, path: path!, domain: new URL(url).hostname },
          ...{ expires: -1, httpOnly: true, secure: false, sameSite: 'Strict' },
        },
      ],
      origins: [{ origin: url, localStorage: [{ name: `baton-session:${workspace.id}`, value: session }] }],
    },
  }
}

export async function oneTimeLink(url: string, key: string): Promise<string> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(`${url}/api/v1/session/link`, { method: 'POST', headers })
  if (!answer.ok) throw new Error(`No link to sign in with: ${answer.status} ${await answer.text()}`)
  return ((await answer.json()) as { url: string }).url
}
