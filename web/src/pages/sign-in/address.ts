/** What the address of the sign-in page says. Pure. */

/** The token is in the fragment, which browsers send to no server. */
export const tokenIn = (hash: string) => (hash.length > 1 ? hash.slice(1) : null)

/** What somebody pasted: a key, or a whole link, of which only the token counts. */
export function given(text: string): { token: string } | { key: string } {
  const [, token] = /^https?:\/\/\S*#(\S+)$/.exec(text.trim()) ?? []
  return token === undefined ? { key: text.trim() } : { token }
}

/** Back to where the user was, if that is in the workspace that was signed in to: a link must not lead elsewhere. */
export function wayBack(back: string | null, workspace: string): string {
  const isInside =
    back !== null &&
    (back === workspace || back.startsWith(`${workspace}/`) || back.startsWith(`${workspace}?`))
  return isInside ? back : workspace
}
