import type { FastifyRequest } from 'fastify'
import { Refused } from '../pure/errors.ts'

/** At which hosts a browser may have a session: where no other program can answer, and nobody can listen in. */

/** A Host header without its port. */
export const nameOf = (host: string) => host.replace(/:\d+$/, '').toLowerCase()

/**
 * Another program may listen on one of the addresses that "localhost" stands for. Returns the address to use instead of it; null: the
 * request names another host, or sessions may be there.
 */
export function insteadOfLocalhost({ headers }: FastifyRequest, loopback: string | null): string | null {
  const host = headers.host ?? ''
  if (loopback === null || nameOf(host) !== 'localhost') return null
  // The port that the browser used: a tunnel may have another than the server.
  return `http://${loopback}${/:\d+$/.exec(host)?.[0] ?? ''}`
}

export function refuseSessionAtLocalhost(request: FastifyRequest, loopback: string | null): void {
  const instead = insteadOfLocalhost(request, loopback)
  if (instead !== null)
    throw new Refused(
      'HOST_NOT_ALLOWED',
      `Browsers sign in at ${instead}: under the name "localhost" another program could answer.`,
    )
}

const LOOPBACK_NAME = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Whether the browser uses https. The origin of its page says so; without an origin, our own protocol and public URL decide. */
export const isSecure = ({ headers, protocol }: FastifyRequest, publicUrl: string | undefined) =>
  headers.origin === undefined
    ? protocol === 'https' || (publicUrl?.startsWith('https:') ?? false)
    : headers.origin.startsWith('https:')

/** Anybody on the way could read the key or the link, and the session. */
export function refuseSignInWithoutTls(request: FastifyRequest, publicUrl: string | undefined): void {
  const { origin, host } = request.headers
  const name = origin !== undefined && URL.canParse(origin) ? new URL(origin).hostname : nameOf(host ?? '')
  if (LOOPBACK_NAME.test(name) || isSecure(request, publicUrl)) return
  throw new Refused(
    'HTTPS_REQUIRED',
    `The page at ${name} came over plain http; use a proxy with TLS, or an SSH tunnel to this machine.`,
  )
}
