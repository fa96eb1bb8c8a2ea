import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ServerKernel } from '../door/server-kernel.ts'
import {
  endAllSessions,
  endSession,
  listSessions,
  makeLink,
  makeTicket,
  showSession,
  signIn,
} from '../kinds/sign-in/acts.ts'
import * as api from '../kinds/sign-in/api.ts'
import type { SignInBody } from '../kinds/sign-in/shapes.ts'
import { Refused } from '../pure/errors.ts'
import type { AnswerOf } from '../pure/shapes.ts'
import { browserOf, dropCookie, giveCookie, refuseOtherSites } from './browser-sessions.ts'
import { serve } from './endpoint.ts'
import type { KeyRing, KnownKey } from './key-ring.ts'
import {
  insteadOfLocalhost,
  isSecure,
  refuseSessionAtLocalhost,
  refuseSignInWithoutTls,
} from './page-host.ts'
import { isRunToken } from './run-tokens.ts'
import type { WrongKeys } from './wrong-keys.ts'

export interface SignInOptions {
  keys: KeyRing
  wrongKeys: WrongKeys
  /** What pages learn of the server. */
  server: Parameters<typeof showSession>[3]
  publicUrl: string | undefined
  /** Where sessions are instead of at "localhost"; null: there, too. */
  loopback: string | null
}

export function browserSessionRoutes(
  app: FastifyInstance,
  kernel: ServerKernel,
  { keys, wrongKeys, server, publicUrl, loopback }: SignInOptions,
): void {
  const forgetCookie = async (request: FastifyRequest, reply: FastifyReply) => {
    const { uuid } = await kernel.store.workspaces.read(request.caller.workspaceId)
    dropCookie(reply, { workspace: { id: uuid }, isSecure: isSecure(request, publicUrl) })
  }

  serve(app, api.signIn, async (request, reply) => {
    refuseOtherSites(request)
    refuseSessionAtLocalhost(request, loopback)
    refuseSignInWithoutTls(request, publicUrl)
    const { answer, cookie, ended } = await presentedKey(keys, request.body)
      .then((by) => signIn(kernel, by, browserOf(request), server))
      .catch((error) => {
        if (error instanceof Refused && error.refusal.code === 'UNAUTHENTICATED') wrongKeys.count(request.ip)
        throw error
      })
    const of = { workspace: answer.workspace, isSecure: isSecure(request, publicUrl) }
    giveCookie(reply, of, { cookie, expiresAt: answer.expiresAt })
    await keys.revoked(ended)
    return answer
  })

  serve(app, api.readSession, (request) => {
    const key = keyOf(request)
    return showSession(kernel, key, key.session, server)
  })

  serve(app, api.signOut, async (request, reply) => {
    const id = sessionOf(request)
    await endSession(kernel, request.caller, id)
    await keys.revoked([id])
    await forgetCookie(request, reply)
    return reply.send()
  })

  serve(app, api.listBrowserSessions, (request) =>
    listSessions(kernel, request.caller, keyOf(request).session?.id ?? null),
  )

  serve(app, api.endBrowserSessions, async (request, reply) => {
    const { keyId, session } = keyOf(request)
    const ended = await endAllSessions(kernel, request.caller, keyId, request.query.key)
    await keys.revoked(ended)
    if (session && ended.includes(session.id)) await forgetCookie(request, reply)
    return reply.send()
  })

  serve(app, api.endBrowserSession, async (request, reply) => {
    await endSession(kernel, request.caller, request.params.id)
    // The answer guarantees that it is over: everything opened with it has ended.
    await keys.revoked([request.params.id])
    return reply.send()
  })

  serve(app, api.makeTicket, async (request) => {
    return makeTicket(kernel, request.caller, sessionOf(request))
  })

  serve(app, api.makeLink, async (request) => {
    const here = insteadOfLocalhost(request, loopback) ?? `${request.protocol}://${request.headers.host}`
    const baseUrl = publicUrl ?? here
    return makeLink(kernel, request.caller, keyOf(request).keyId, baseUrl)
  })
}

/** The token, or the key if it is valid. */
async function presentedKey(
  keys: KeyRing,
  { token, key }: AnswerOf<typeof SignInBody>,
): Promise<string | KnownKey> {
  if (token !== undefined && key !== undefined)
    throw Refused.field('VALIDATION_FAILED', 'key', 'must not be sent with a token')
  if (token !== undefined) return token
  if (key === undefined) throw Refused.field('VALIDATION_FAILED', 'token', 'or a key must be sent')
  const found = isRunToken(key) ? null : await keys.find(key)
  if (!found) throw new Refused('UNAUTHENTICATED', 'This key is not valid here.')
  return found
}

function keyOf({ key }: FastifyRequest): KnownKey {
  if (!key) throw new Refused('FORBIDDEN', 'A run token has no session; this needs a key.')
  return key
}

function sessionOf(request: FastifyRequest): string {
  const { session } = keyOf(request)
  if (!session) throw new Refused('NOT_FOUND', 'This request carries a key, and has no browser session.')
  return session.id
}
