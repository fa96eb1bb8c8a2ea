import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { countdown, inParts, measure } from './measure.mjs'

const QUEUE = 'tasks'
const PREFIX = 'baton-bench-bullmq'
const JOBS_A_PART = 100
const BULK = { workers: 1, concurrency: 100 }

async function open(url, workers) {
  const { workers: count, concurrency } = workers === 0 ? BULK : { workers, concurrency: 1 }
  // BullMQ requires endless retries on connections that workers use.
  const connection = new Redis(url, { maxRetriesPerRequest: null })
  // Each worker listens to it.
  connection.setMaxListeners(0)
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

  function newWorker(mark) {
    const worker = new Worker(QUEUE, async ({ data }) => data, {
      connection,
      prefix: PREFIX,
      concurrency,
      autorun: false,
    })
    // Fires after Redis has answered that the job is completed.
    worker.on('completed', () => mark(1))
    return worker
  }

  async function readyWorkers(tasks) {
    const { mark, done } = countdown(tasks)
    const all = Array.from({ length: count }, () => newWorker(mark))
    await Promise.all(all.map((worker) => worker.waitUntilReady()))
    return {
      async finish() {
        await Promise.race([done, ...all.map((worker) => worker.run())])
      },
      stop: () => Promise.all(all.map((worker) => worker.close())),
    }
  }

  async function close() {
    await queue.obliterate({ force: true })
    await queue.close()
    connection.disconnect()
  }

  return { keeps: 'nothing: deletes the job', enqueue, readyWorkers, calm: async () => undefined, close }
}

await measure('bullmq', open)
