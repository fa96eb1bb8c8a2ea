import type { FastifyInstance } from 'fastify'

/**
 * On every answer. Answers are data for programs: no content sniffing, no frames, no caching (some answers contain keys),
 * and no referrer for outgoing links. A route that serves pages overrides them.
 */
export const SAFE_HEADERS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const

/** The first hook, so that requests refused by a later hook get the headers too. */
export function installSafeHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(SAFE_HEADERS)
    done()
  })
}
