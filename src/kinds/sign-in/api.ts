import { z } from 'zod'
import { endpoint } from '../../pure/endpoint.ts'
import { listOf, Name, Uuid } from '../../pure/shapes.ts'
import {
  BrowserSessionView,
  LinkAnswer,
  SessionAnswer,
  SignedIn,
  SignInBody,
  TicketAnswer,
} from './shapes.ts'

/** Sessions of people in browsers. The sessions of agents are another thing (`/sessions`). */

const tag = 'sign-in'
const nothing = { body: z.strictObject({}), bodyIsOptional: true } as const

export const signIn = endpoint({
  method: 'POST',
  path: '/session',
  summary: 'Sign in with the token of a one-time link, or with a key',
  description:
    'Sets a cookie and answers with the value that each later request must send as "Baton-Session". Neither is enough alone. ' +
    'A session that this browser has in the workspace ends, if its value is sent here as "Baton-Session", too (several are separated ' +
    'by commas). A key has at most 20 sessions; a further one ends the one that was not used for the longest time.',
  tag,
  needs: 'nothing',
  body: SignInBody,
  status: 201,
  answer: SignedIn,
})

export const readSession = endpoint({
  method: 'GET',
  path: '/session',
  summary: 'Read who this is: workspace, role and rights, and how far the log is',
  tag,
  needs: 'read',
  answer: SessionAnswer,
})

export const signOut = endpoint({
  method: 'DELETE',
  path: '/session',
  summary: 'Sign out: end the browser session of this request',
  tag,
  needs: 'read',
  status: 204,
  answer: null,
})

export const listBrowserSessions = endpoint({
  method: 'GET',
  path: '/session/all',
  summary: 'List browser sessions: those of this key, and of all keys for admins',
  tag,
  needs: 'read',
  answer: listOf(BrowserSessionView),
})

export const endBrowserSessions = endpoint({
  method: 'DELETE',
  path: '/session/all',
  summary: 'Sign out everywhere: end all browser sessions of this key',
  description:
    'Links that were not used yet end, too. With `key`, those of another key of the workspace, which needs the right "admin".',
  tag,
  needs: 'read',
  query: z.strictObject({ key: Uuid.optional() }),
  status: 204,
  answer: null,
})

export const endBrowserSession = endpoint({
  method: 'DELETE',
  path: '/session/all/:id',
  summary: 'End a browser session; its sockets are closed',
  tag,
  needs: 'read',
  params: z.object({ id: Name }),
  status: 204,
  answer: null,
})

export const makeTicket = endpoint({
  method: 'POST',
  path: '/session/ticket',
  summary: 'Make a ticket that opens one socket of this browser session within 30 seconds',
  description: 'A browser cannot send headers with a socket: it opens /events/ws?ticket=… instead.',
  tag,
  needs: 'read',
  ...nothing,
  status: 201,
  answer: TicketAnswer,
})

export const makeLink = endpoint({
  method: 'POST',
  path: '/session/link',
  summary: 'Make a one-time link that signs in with this key within ten minutes',
  tag,
  needs: 'admin',
  ...nothing,
  status: 201,
  answer: LinkAnswer,
})
