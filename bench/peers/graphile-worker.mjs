import pg from 'pg'
import { countdown, inParts, measure } from './measure.mjs'
import { cleanSchema } from './schema.mjs'

// Read when the package is loaded; a log line for each job is no part of the work.
process.env.NO_LOG_SUCCESS = '1'
const { Logger, makeWorkerUtils, run } = await import('graphile-worker')

const SCHEMA = 'baton_bench_graphile'
const JOBS_A_PART = 1_000

/** Completions are written together, as its documentation advises for throughput; a worker does not wait for its own. */
const COMPLETION = { completeJobBatchDelay: 0, failJobBatchDelay: 0 }
const BULK = {
  // One fetches while the other works.
  runners: 2,
  connections: 12,
  settings: { concurrentJobs: 12, localQueue: { size: 2_000 }, ...COMPLETION },
}
/** Without a local queue each worker fetches its next job itself, so the pool has one connection for each and one to spare. */
const oneAtATime = (workers) => ({
  runners: 1,
  connections: workers + 1,
  settings: { concurrentJobs: workers, localQueue: { size: -1 }, ...COMPLETION },
})

async function open(url, workers) {
  const { runners: count, connections, settings } = workers === 0 ? BULK : oneAtATime(workers)
  const preset = { worker: { schema: SCHEMA, maxPoolSize: connections, ...settings } }
  const schema = await cleanSchema(url, SCHEMA)
  const pgPool = new pg.Pool({ connectionString: url, max: connections })
  // graphile-worker requires a listener on the pool and on each client.
  pgPool.on('error', () => undefined)
  pgPool.on('connect', (client) => client.on('error', () => undefined))
  const options = { pgPool, preset, logger: new Logger(() => () => undefined), noHandleSignals: true }
  const utils = await makeWorkerUtils(options)
  await utils.migrate()

  function enqueue(payloads) {
    const jobs = payloads.map((payload) => ({ identifier: 'task', payload }))
    return inParts(jobs, JOBS_A_PART, (part) => utils.addJobs(part))
  }

  async function readyWorkers(tasks) {
    const { mark, done } = countdown(tasks)
    const taskList = { task: async () => mark(1) }
    let runners = []
    return {
      async finish() {
        runners = await Promise.all(Array.from({ length: count }, () => run({ ...options, taskList })))
        await done
        // Completed jobs are deleted, in batches that outlast their handlers.
        while (!(await schema.isEmpty('_private_jobs')));
      },
      stop: () => Promise.all(runners.map((runner) => runner.stop())),
    }
  }

  async function close() {
    await utils.release()
    await pgPool.end()
    await schema.close()
  }

  return { keeps: 'nothing: deletes the job', enqueue, readyWorkers, calm: schema.calm, close }
}

await measure('graphile-worker', open)
