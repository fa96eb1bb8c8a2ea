import type { FastifyRequest } from 'fastify'

/** The cookies of a request, by name; of two with the same name, the first, which is that of the longer path. */
export function cookiesIn({ headers }: Pick<FastifyRequest, 'headers'>): Map<string, string> {
  const found = new Map<string, string>()
  for (const pair of headers.cookie?.split(';') ?? []) {
    const at = pair.indexOf('=')
    const name = pair.slice(0, at).trim()
    if (at > 0 && !found.has(name)) found.set(name, pair.slice(at + 1).trim())
  }
  return found
}
