import { type Client, createClient } from '../../../src/client/client.ts'
import { forgetSignedIn, leaveToSignIn, signedInTo, workspaceInAddress } from './signed-in.ts'

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

/** For the sign-in page, before there is a session. */
export const apiWithoutSession = () => createClient({ baseUrl: location.origin })
