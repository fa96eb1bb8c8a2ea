/**
 * Which workspaces this browser is signed in to. The page value is half of a session: the cookie alone opens nothing, so
 * another program on another port of this machine cannot use it.
 */

export interface SignedInWorkspace {
  id: string
  name: string
  pageValue: string
}

const PREFIX = 'baton-session:'
const LAST = 'baton-last-workspace'

const parsed = (text: string | null): SignedInWorkspace | null => {
  try {
    return text === null ? null : (JSON.parse(text) as SignedInWorkspace)
  } catch {
    return null
  }
}

export const signedInTo = (id: string) => parsed(localStorage.getItem(PREFIX + id))

export function allSignedIn(): SignedInWorkspace[] {
  return Object.keys(localStorage)
    .filter((name) => name.startsWith(PREFIX))
    .flatMap((name) => parsed(localStorage.getItem(name)) ?? [])
    .sort((a, b) => a.name.localeCompare(b.name))
}

export function keepSignedIn(workspace: SignedInWorkspace): void {
  localStorage.setItem(PREFIX + workspace.id, JSON.stringify(workspace))
  localStorage.setItem(LAST, workspace.id)
}

export const forgetSignedIn = (id: string) => localStorage.removeItem(PREFIX + id)

/** What was written there and not sent: the next person at this browser does not read it. */
export function forgetDrafts(id: string): void {
  for (const name of Object.keys(sessionStorage))
    if (name.startsWith(`baton-draft:${id}:`)) sessionStorage.removeItem(name)
}

export function lastWorkspace(): SignedInWorkspace | null {
  const last = localStorage.getItem(LAST)
  return (last === null ? null : signedInTo(last)) ?? allSignedIn()[0] ?? null
}

/** The workspace in the address: everything is below /w/:workspace. */
export const workspaceInAddress = () => /^\/w\/([^/]+)/.exec(location.pathname)?.[1] ?? null

/** To the sign-in page, and back here afterwards. Leaving the page drops all that was read. */
export function leaveToSignIn(): void {
  location.assign(`/sign-in?back=${encodeURIComponent(location.pathname + location.search)}`)
}
