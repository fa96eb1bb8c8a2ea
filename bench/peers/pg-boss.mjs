import PgBoss from 'pg-boss'
import { countdown, inParts, measure } from './measure.mjs'
import { cleanSchema } from './schema.mjs'

const SCHEMA = 'baton_bench_pgboss'
const QUEUE = 'tasks'
const JOBS_A_PART = 1_000
const WORKERS = 2
const WORK = { batchSize: 5_000, pollingIntervalSeconds: 0.5 }

async function open(url) {
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
    id = await boss.work(QUEUE, WORK, async (jobs) => {
      // A worker sleeps between batches until its polling interval is over, unless it is notified that there is more.
      boss.notifyWorker(id)
      mark(jobs.length)
    })
  }

  async function readyWorkers(count) {
    const { mark, done } = countdown(count)
    return {
      async finish() {
        for (let i = 0; i < WORKERS; i++) await startWorker(mark)
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

  return { enqueue, readyWorkers, calm: schema.calm, close }
}

await measure('pg-boss', open)
