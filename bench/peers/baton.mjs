import { inParts, measure } from './measure.mjs'
import { cleanSchema } from './schema.mjs'

const { createQueue } = await import(new URL('../../dist/src/queue/queue.js', import.meta.url))

const TASKS_A_PART = 1_000
/** One fetches tasks while another submits. */
const WORKERS = 4
const TASKS_AT_ONCE = 500

async function open(url) {
  const schema = url.startsWith('postgres') ? await cleanSchema(url, 'baton') : null
  const queue = await createQueue(url, { workspace: `bench-${process.pid}` })

  function enqueue(payloads) {
    const tasks = payloads.map((input) => ({ title: 'task', input }))
    return inParts(tasks, TASKS_A_PART, (part) => queue.enqueueMany(part))
  }

  async function work(worker) {
    for (;;) {
      const claims = await queue.nextMany(worker, TASKS_AT_ONCE)
      if (claims.length === 0) return
      await Promise.all(claims.map((claim) => queue.submit(claim, { n: claim.task.input.n })))
    }
  }

  async function readyWorkers() {
    return {
      finish: () => Promise.all(Array.from({ length: WORKERS }, (_, n) => work(`worker-${n}`))),
      stop: async () => undefined,
    }
  }

  async function close() {
    await queue.close()
    await schema?.close()
  }

  return { version: 'this', enqueue, readyWorkers, calm: async () => schema?.calm(), close }
}

await measure('baton', open)
