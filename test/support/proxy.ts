import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/**
 * A connection to the database that can be cut, and restored: what a network does, without touching the server others use.
 */
export async function cuttableConnectionTo(url: string) {
  const target = new URL(url)
  const open = new Set<Socket>()
  let isCut = false
  let inVain = 0
  /** Set, answers are held from the moment a client has sent this. */
  let keepAnswersBackAfter: string | null = null
  const proxy = createServer((client) => {
    if (isCut) {
      inVain += 1
      return client.destroy()
    }
    const server = connect(Number(target.port), target.hostname)
    let deaf = false
    client.on('data', (data) => {
      if (keepAnswersBackAfter && data.includes(keepAnswersBackAfter)) deaf = true
      server.write(data)
    })
    server.on('data', (data) => void (deaf || client.write(data)))
    const pairs: [Socket, Socket][] = [
      [client, server],
      [server, client],
    ]
    for (const [socket, other] of pairs) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
    }
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const through = new URL(url)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as AddressInfo).port)
  return {
    url: through.href,
    /** How many connections were attempted while it was cut. */
    inVain: () => inVain,
    cut() {
      isCut = true
      for (const socket of open) socket.destroy()
    },
    restore() {
      isCut = false
      keepAnswersBackAfter = null
    },
    /** The request still arrives, its answer does not. */
    loseAnswersTo(sent: string) {
      keepAnswersBackAfter = sent
    },
    close: () => new Promise<void>((resolve) => proxy.close(() => resolve())),
  }
}

export type CuttableConnection = Awaited<ReturnType<typeof cuttableConnectionTo>>
