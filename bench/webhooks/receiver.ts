import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A fast receiver, in a process of its own: it tells its port, and then how many it has got whenever it is asked. */

let count = 0
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    count++
    response.end()
  })
})
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }))
process.on('message', () => process.send!({ count }))
