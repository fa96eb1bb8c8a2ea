import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { countdown, inParts, measure } from './measure.mjs'

const QUEUE = 'tasks'
const PREFIX = 'baton-bench-bullmq'
const JOBS_A_PART = 100
const CONCURRENCY = 100

async function open(url) {
  // BullMQ requires endless retries on connections that workers use.
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  const queue = new Queue(QUEUE, {
    connection,
    prefix: PREFIX,
    defaultJobOptions: { removeOnComplete: true },
  })
  await queue.obliterate({ force: true })

  function enqueue(payloads) {
    const jobs = payloads.map((data) => ({ name: 'task', data }))
    return inParts(jobs, JOBS_A_PART, (part) => queue.addBulk(part))
  }

  async function readyWorkers(count) {
    const { mark, done } = countdown(count)
    const worker = new Worker(QUEUE, async () => undefined, {
      connection,
      prefix: PREFIX,
      concurrency: CONCURRENCY,
      autorun: false,
    })
    // Fires after Redis has answered that the job is completed.
    worker.on('completed', () => mark(1))
    await worker.waitUntilReady()
    return {
      async finish() {
        const running = worker.run()
        await Promise.race([done, running])
      },
      stop: () => worker.close(),
    }
  }

  async function close() {
    await queue.obliterate({ force: true })
    await queue.close()
    connection.disconnect()
  }

  return { enqueue, readyWorkers, calm: async () => undefined, close }
}

await measure('bullmq', open)
