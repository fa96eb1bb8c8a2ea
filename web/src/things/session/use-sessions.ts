import type { AnswerTo } from '../../../../src/client/client.ts'
import type { SessionState } from '../../../../src/pure/states.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { useList } from '../use-list.ts'

export type ListedSession = AnswerTo<'GET', '/sessions'>['items'][number]
export type SessionMemory = AnswerTo<'GET', '/sessions/:id'>

const nameOf = ({ session }: ListedSession) => session

export interface SessionFilter {
  project?: string | undefined
  state?: SessionState | undefined
}

/** Sessions, newest first: all of them, or those of a project or in a state. */
export const useSessions = ({ project, state }: SessionFilter) =>
  useList(
    ['sessions', project ?? '', state ?? ''],
    (query, signal) =>
      api().read('/sessions', {
        query: { ...query, ...(project && { project }), ...(state && { state }) },
        ...(signal && { signal }),
      }),
    { follows: about.sessions, keyOf: nameOf },
  )

/** What a session did and holds. */
export const useSessionMemory = (session: string) =>
  useSnapshot<SessionMemory>(
    ['session-memory', session],
    ({ signal }) => api().read('/sessions/:id', { params: { id: session }, signal }),
    { follows: about.session(session) },
  )
