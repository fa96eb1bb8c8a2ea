import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Passes on what a client sent, or does something else with it. */
type Forward = (data: Buffer, server: Socket) => Promise<unknown>

/** A connection to Valkey on which faults happen. The server's side stays open when the client's is closed. */
export async function faultyConnectionTo(url: string, forward: Forward) {
  const target = new URL(url)
  const sockets = new Set<Socket>()
  const proxy = createServer((client) => {
    const server = connect(Number(target.port), target.hostname)
    sockets.add(client).add(server)
    let last: Promise<unknown> = Promise.resolve()
    client.on('data', (data: Buffer) => {
      last = last.then(() => forward(data, server))
    })
    server.on('data', (data) => client.write(data))
    for (const socket of [client, server]) socket.on('error', () => undefined)
    server.on('close', () => client.destroy())
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    },
  }
}
