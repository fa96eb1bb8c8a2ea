import type { FastifyInstance } from 'fastify'

/**
 * On every answer. Answers are data for programs, whatever a browser may take them for: not guessed to be something else,
 * not shown in frames, not kept in caches (some hold keys), and no page that links from here is told the address. A route
 * that serves pages says otherwise for itself.
 */
export const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const

/** First of all hooks, so that those whom a later one turns away get them as well. */
export function installSafeHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SAFE_HEADERS)
    done()
  })
}
