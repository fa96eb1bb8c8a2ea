import type { AnswerTo } from '../../../../src/client/client.ts'
import { about } from '../../live/about.ts'
import { useSnapshot } from '../../live/use-snapshot.ts'
import { api } from '../../requests/api.ts'
import { useList } from '../use-list.ts'

export type ListedSession = AnswerTo<'GET', '/sessions'>['items'][number]
export type SessionMemory = AnswerTo<'GET', '/sessions/:id'>

const nameOf = ({ session }: ListedSession) => session

/** Sessions, newest first: of a project, or all. */
export const useSessions = (project?: string) =>
  useList(
    ['sessions', project ?? ''],
    (query, signal) =>
      api().read('/sessions', {
        query: { ...query, ...(project ? { project } : {}) },
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
