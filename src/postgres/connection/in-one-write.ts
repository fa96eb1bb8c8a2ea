import type pg from 'pg'

/**
 * Sends everything that `submit` sends with one write to the socket. The driver otherwise writes each statement separately, and
 * each write wakes the server.
 */
export function inOneWrite<T>(client: pg.PoolClient, submit: () => T): T {
  const { stream } = (client as unknown as pg.Client).connection
  stream.cork()
  try {
    return submit()
  } finally {
    stream.uncork()
  }
}
