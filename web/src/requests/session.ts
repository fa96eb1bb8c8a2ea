import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Right } from '../../../src/pure/rights.ts'
import { api, apiForSignIn } from './api.ts'
import { forgetDrafts, forgetSignedIn, keepSignedIn } from './signed-in.ts'

/** Read once when the app starts, and again after a pause: it says who is signed in and which version the server has. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => api().get('/session', { signal }),
  staleTime: 300_000,
  gcTime: Number.POSITIVE_INFINITY,
})

const NEEDED = {
  read: 'to read',
  work: 'to work',
  operate: 'to operate',
  configure_agents: 'to configure agents',
  admin: 'to administer the workspace',
  own: 'to own the workspace',
  instance: 'to run this server',
  metrics: 'to read the metrics of this server',
} as const satisfies Record<Right, string>

/** Who is signed in, and what they may do. `whyNot` is null or the sentence that a disabled button shows. Below the shell, which has read it. */
export function useSession() {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('The session is used before it was read.')
  return useMemo(() => {
    const rights = new Set(data.rights as Right[])
    const can = (right: Right) => rights.has(right)
    const whyNot = (right: Right) => (can(right) ? null : `This needs the right ${NEEDED[right]}.`)
    return { ...data, rights, can, whyNot }
  }, [data])
}

/** Signs in with the token of a one-time link, or with a key. Returns the address of the workspace. */
export async function signIn(given: { token: string } | { key: string }): Promise<string> {
  const { workspace, pageValue } = await apiForSignIn().post('/session', { body: given })
  keepSignedIn({ ...workspace, pageValue })
  return `/w/${workspace.id}`
}

/** Ends this browser's session of the workspace. There is no undo: a new link signs in again. */
export async function signOut(workspace: string): Promise<void> {
  await api().delete('/session')
  forgetSignedIn(workspace)
  forgetDrafts(workspace)
  location.assign('/')
}

/** Ends the sessions of this key in all browsers, this one included. */
export async function signOutEverywhere(workspace: string): Promise<void> {
  await api().delete('/session/all')
  forgetSignedIn(workspace)
  forgetDrafts(workspace)
  location.assign('/')
}
