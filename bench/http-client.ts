import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { closedLoop } from './drive.ts'
import type { HttpLoad } from './http.ts'
import { uuidOf } from './setup.ts'

/** A client that costs little: keep-alive connections, hand-written requests, responses only counted and checked. */

type Send = (request: string) => Promise<void>

function openConnection(port: number): Promise<Send> {
  return new Promise((opened, failed) => {
    const socket = connect(port, '127.0.0.1')
    socket.setNoDelay()
    let answered: (() => void) | null = null
    let refused: ((error: Error) => void) | null = null
    let seen = ''
    socket.once('error', (error) => (refused ?? failed)(error))
    socket.once('connect', () =>
      opened(
        (request) =>
          new Promise((resolve, reject) => {
            answered = resolve
            refused = reject
            socket.write(request)
          }),
      ),
    )
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1')
      const end = seen.indexOf('\r\n\r\n')
      if (end === -1) return
      const [, length] = /content-length: (\d+)/i.exec(seen) ?? []
      if (seen.length < end + 4 + Number(length)) return
      const status = seen.slice(9, 12)
      const body = seen.slice(end + 4)
      seen = ''
      if (status !== '200') refused!(new Error(`${status} ${body}`))
      else answered!()
    })
  })
}

function requestsOf({ key, lot, tasksPerRequest, act, connections }: HttpLoad): (index: number) => string {
  // A session for each caller, as agents have: one that held everything would be dear to write.
  const who = (index: number) => ({
    agent: 'alpha',
    session: `s-${index % connections}`,
    leaseSeconds: 60,
  })
  const request = (path: string, body: unknown) => {
    const json = JSON.stringify(body)
    return `POST /api/v1${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`
  }
  if (tasksPerRequest === 1) return (index) => request(`/tasks/${uuidOf(lot, index)}/${act}`, who(index))
  return (index) => {
    const taskIds = Array.from({ length: tasksPerRequest }, (_, i) =>
      uuidOf(lot, index * tasksPerRequest + i),
    )
    return request('/claims/batch', { ...who(index), taskIds })
  }
}

const load: HttpLoad = JSON.parse(await text(process.stdin))
const free = await Promise.all(Array.from({ length: load.connections }, () => openConnection(load.port)))
const requestOf = requestsOf(load)
const count = Math.floor(load.lot.count / load.tasksPerRequest)
const result = await closedLoop(load.connections, count, async (index) => {
  const send = free.pop()!
  await send(requestOf(index))
  free.push(send)
})
process.stdout.write(JSON.stringify(result), () => process.exit(0))
