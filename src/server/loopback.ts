import { createServer, type Server } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { shareConnectionLimit } from './connections.ts'

/**
 * Listening on this machine. "localhost" means 127.0.0.1 and ::1, and a browser takes whatever answers on either for the same origin:
 * a program on the address that Baton leaves free would get the cookie and the stored value of a session. So Baton takes both.
 */

export interface ListenAddress {
  host: string
  /** The other loopback address; null: only `host`. */
  otherHost: string | null
  /** 0: any port that is free on both. */
  port: number
}

export interface Listening {
  port: number
  /** Accepts nothing more on the other address. Resolves when its connections have ended. */
  closeOther(): Promise<void>
}

/** Without IPv6 Baton cannot listen there, and neither can anybody else. */
const NO_SUCH_ADDRESS = ['EADDRNOTAVAIL', 'EAFNOSUPPORT', 'EPROTONOSUPPORT']
const MOST_ATTEMPTS = 50

export async function listen(app: FastifyInstance, address: ListenAddress): Promise<Listening> {
  // A request on the other address may be the first one.
  await app.ready()
  for (let attempt = 1; ; attempt++) {
    const other = await listenOnOther(app, address)
    try {
      await app.listen({ host: address.host, port: other?.port ?? address.port })
      if (other) shareConnectionLimit(app.server, other.server)
      const { port } = app.server.address() as { port: number }
      return { port, closeOther: other?.close ?? (async () => undefined) }
    } catch (error) {
      // Not waited for: it accepts nothing more, and somebody may already be connected.
      void other?.close()
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
      if (address.port !== 0 || !isTaken || attempt === MOST_ATTEMPTS) throw error
    }
  }
}

/** Its connections are handed to the server of the app, which treats them like its own: time limits, sockets, closing. */
async function listenOnOther(app: FastifyInstance, { otherHost, port }: ListenAddress) {
  if (otherHost === null) return null
  // The options of Node's HTTP server.
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  server.on('connection', (socket) => app.server.emit('connection', socket))
  if (!(await hasAddress(startListening(server, otherHost, port)))) return null
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()))
  return { server, port: (server.address() as { port: number }).port, close }
}

/** Fails if Baton cannot listen there. */
export async function probe({ host, otherHost, port }: ListenAddress): Promise<void> {
  const listenBriefly = async (on: string) => {
    const server = createServer()
    await startListening(server, on, port)
    await new Promise((resolve) => server.close(resolve))
  }
  await listenBriefly(host)
  if (otherHost !== null) await hasAddress(listenBriefly(otherHost))
}

const startListening = (server: Server, host: string, port: number) =>
  new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })

const hasAddress = (listening: Promise<void>): Promise<boolean> =>
  listening.then(
    () => true,
    (error: NodeJS.ErrnoException) => {
      if (NO_SUCH_ADDRESS.includes(error.code ?? '')) return false
      throw error
    },
  )
