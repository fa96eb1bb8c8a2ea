import { queryOptions, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import type { Right } from '../../../src/core/rights.ts'
import { api, apiForSignIn } from './api.ts'
import { forgetDrafts, forgetSignedIn, keepSignedIn } from './signed-in.ts'

/** Read once when the app starts, and again after a pause: it says who is signed in and which version the server has. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: ({ signal }) => api().get('/session', { signal }),
  staleTime: 300_000,
  gcTime: Number.POSITIVE_INFINITY,
})

/** Who is signed in, and what they may do. Below the shell, which has read it. */
export function useSession() {
  const { data } = useQuery(sessionQuery)
  if (!data) throw new Error('The session is used before it was read.')
  return useMemo(() => {
    const rights = new Set(data.rights as Right[])
    return { ...data, rights, can: (right: Right) => rights.has(right) }
  }, [data])
}

/** With the token of a one-time link, or with a key. Answers where the workspace is. */
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
