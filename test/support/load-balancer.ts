import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** One address for a server that stops and starts, like a load balancer: with no server behind it, callers get an error. */
export async function openLoadBalancer() {
  const open = new Set<Socket>()
  let port: number | null = null
  const balancer = createServer((client) => {
    if (port === null) return client.destroy()
    const server = connect(port, '127.0.0.1')
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      open.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        open.delete(socket)
        other.destroy()
      })
      socket.pipe(other)
    }
  })
  balancer.listen(0, '127.0.0.1')
  await once(balancer, 'listening')
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    leadsTo(url: string | null) {
      port = url === null ? null : Number(new URL(url).port)
    },
    close() {
      for (const socket of open) socket.destroy()
      return new Promise<void>((resolve) => balancer.close(() => resolve()))
    },
  }
}
