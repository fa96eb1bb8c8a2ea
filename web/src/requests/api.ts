import { type Client, createClient } from '../../../src/client/client.ts'
import { allSignedIn, forgetSignedIn, leaveToSignIn, signedInTo, workspaceInAddress } from './signed-in.ts'

let made: { workspace: string; client: Client } | null = null

/** The client of the workspace in the address. When the session is over, any request leads to the sign-in page. */
export function api(): Client {
  const workspace = workspaceInAddress()
  if (workspace === null) throw new Error('This page belongs to no workspace.')
  if (made?.workspace === workspace) return made.client
  const pageValue = signedInTo(workspace)?.pageValue ?? ''
  const client = createClient({
    baseUrl: location.origin,
    workspace,
    headers: { 'Baton-Session': pageValue },
    fetch: async (input, init) => {
      const response = await fetch(input, init)
      if (response.status === 401) {
        forgetSignedIn(workspace)
        leaveToSignIn()
      }
      return response
    },
  })
  made = { workspace, client }
  return client
}

/**
 * For the sign-in page, before it is known to which workspace it signs in. What it has of earlier sessions lets the server end the one
 * that the new one replaces: its cookie alone does not.
 */
export function apiForSignIn(): Client {
  const pageValues = allSignedIn().map(({ pageValue }) => pageValue)
  return createClient({
    baseUrl: location.origin,
    headers: pageValues.length > 0 ? { 'Baton-Session': pageValues.join(', ') } : {},
  })
}
