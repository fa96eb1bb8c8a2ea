import { PassThrough } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { BodyPermits } from '../../src/server/body-permits.ts'
import { ReceivedBodies } from '../../src/server/received-bodies.ts'

/** How much of bodies is in memory at once. */

const MB = 1024 * 1024
const request = (bodyLimit = 100 * MB, headers = {}) =>
  ({ routeOptions: { bodyLimit }, headers }) as unknown as FastifyRequest
const noValues = async () => 0
const settled = (promise: Promise<unknown>) =>
  Promise.race([promise.then(() => 'begun'), new Promise((later) => setImmediate(later, 'waits'))])

test('what does not fit waits for its turn, in order, and small bodies never do', async () => {
  const permits = new BodyPermits({ mostBytes: 16 * MB, longestWaitMs: 60_000 })
  const [first, second, third, small] = [request(), request(), request(), request()]
  await permits.admit(first, Buffer.alloc(MB), noValues)
  const later = permits.admit(second, Buffer.alloc(1.5 * MB), noValues)!
  const last = permits.admit(third, Buffer.alloc(MB / 4), noValues)!
  expect(await settled(later)).toBe('waits')
  // It would fit, but it is not its turn.
  expect(await settled(last)).toBe('waits')
  expect(permits.admit(small, Buffer.alloc(1_000), noValues)).toBeNull()
  permits.release(first)
  expect(await settled(later)).toBe('begun')
  expect(await settled(last)).toBe('begun')
})

test('one body alone may be larger than the limit', async () => {
  const permits = new BodyPermits({ mostBytes: MB, longestWaitMs: 60_000 })
  await permits.admit(request(), Buffer.alloc(MB), noValues)
  await expect(permits.admit(request(), Buffer.alloc(MB + 1), noValues)).rejects.toMatchObject({
    code: 'TOO_BUSY',
  })
})

test('whoever waits too long is refused, and is told when to come again', async () => {
  const permits = new BodyPermits({ mostBytes: MB, longestWaitMs: 1 })
  await permits.admit(request(), Buffer.alloc(MB / 2), noValues)
  await expect(permits.admit(request(), Buffer.alloc(MB / 2), noValues)).rejects.toMatchObject({
    refusal: { code: 'TOO_BUSY', retryAfterSeconds: 2 },
  })
})

test('what a body contains counts, too', async () => {
  const permits = new BodyPermits({ mostBytes: 16 * MB, longestWaitMs: 60_000 })
  await permits.admit(request(), Buffer.alloc(100_000), async () => 150_000)
  expect(await settled(permits.admit(request(), Buffer.alloc(100_000), async () => 150_000)!)).toBe('waits')
})

test('when too much is arriving, the slowest sender is refused and the others go on', async () => {
  const bodies = new ReceivedBodies(MB)
  const begin = () => {
    const stream = new PassThrough()
    const outcome = new Promise<Buffer>((received, refused) => {
      bodies.receive(request(), stream, (error, bytes) => (bytes ? received(bytes) : refused(error)))
    })
    return { stream, outcome }
  }
  const slow = begin()
  slow.stream.write(Buffer.alloc(1_000))
  await new Promise((later) => setTimeout(later, 20))
  const quick = begin()
  quick.stream.write(Buffer.alloc(MB - 500))
  await expect(slow.outcome).rejects.toMatchObject({ code: 'TOO_BUSY' })
  quick.stream.end(Buffer.alloc(400))
  expect(await quick.outcome).toHaveLength(MB - 100)
})

test('a body over the limit of its route is refused, announced or not', async () => {
  const bodies = new ReceivedBodies()
  const outcomeOf = (headers: Record<string, string>, chunk: Buffer) =>
    new Promise((done) => {
      const stream = new PassThrough()
      bodies.receive(request(100, headers), stream, (error) => done(error))
      stream.end(chunk)
    })
  const tooLarge = { code: 'FST_ERR_CTP_BODY_TOO_LARGE' }
  expect(await outcomeOf({ 'content-length': '101' }, Buffer.alloc(0))).toMatchObject(tooLarge)
  expect(await outcomeOf({}, Buffer.alloc(101))).toMatchObject(tooLarge)
  expect(await outcomeOf({}, Buffer.alloc(100))).toBeNull()
})
