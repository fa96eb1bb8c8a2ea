import PgBoss from 'pg-boss'
import { countdown, inParts, measure } from './measure.mjs'
import { cleanSchema } from './schema.mjs'

const SCHEMA = 'baton_bench_pgboss'
const QUEUE = 'tasks'
const JOBS_A_PART = 1_000
const BULK = { workers: 2, batchSize: 5_000 }
/** The shortest that it accepts. */
const POLLING = { pollingIntervalSeconds: 0.5 }

async function open(url, workers) {
  const { workers: count, batchSize } = workers === 0 ? BULK : { workers, batchSize: 1 }
  const schema = await cleanSchema(url, SCHEMA)
  const boss = new PgBoss({ connectionString: url, schema: SCHEMA, schedule: false })
  boss.on('error', (error) => {
    throw error
  })
  await boss.start()
  await boss.createQueue(QUEUE)

  function enqueue(payloads) {
    const jobs = payloads.map((data) => ({ name: QUEUE, data }))
    return inParts(jobs, JOBS_A_PART, (part) => boss.insert(part))
  }

  async function startWorker(mark) {
    let id = null
    id = await boss.work(QUEUE, { batchSize, ...POLLING }, async (jobs) => {
      // A worker sleeps between batches until its polling interval is over, unless it is notified that there is more.
      boss.notifyWorker(id)
      mark(jobs.length)
      // Stored as the result where there is one job.
      return jobs[0].data
    })
  }

  async function readyWorkers(tasks) {
    const { mark, done } = countdown(tasks)
    return {
      async finish() {
        await Promise.all(Array.from({ length: count }, () => startWorker(mark)))
        await done
        // Completion is written after the handler, and pg-boss does not say when.
        while ((await boss.getQueueSize(QUEUE, { before: 'completed' })) > 0);
      },
      stop: () => boss.offWork(QUEUE),
    }
  }

  async function close() {
    await boss.stop()
    await schema.close()
  }

  const keeps = 'the job with its result, until it is archived'
  return { keeps, enqueue, readyWorkers, calm: schema.calm, close }
}

await measure('pg-boss', open)
