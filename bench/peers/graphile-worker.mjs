import pg from 'pg'
import { countdown, inParts, measure } from './measure.mjs'
import { cleanSchema } from './schema.mjs'

// Read when the package is loaded; a log line for each job is no part of the work.
process.env.NO_LOG_SUCCESS = '1'
const { Logger, makeWorkerUtils, run } = await import('graphile-worker')

const SCHEMA = 'baton_bench_graphile'
const JOBS_A_PART = 1_000
/** One fetches while the other works. */
const RUNNERS = 2
const CONNECTIONS = 12
const preset = {
  worker: {
    schema: SCHEMA,
    concurrentJobs: 12,
    maxPoolSize: CONNECTIONS,
    localQueue: { size: 2_000 },
    completeJobBatchDelay: 0,
    failJobBatchDelay: 0,
  },
}

async function open(url) {
  const schema = await cleanSchema(url, SCHEMA)
  const pgPool = new pg.Pool({ connectionString: url, max: CONNECTIONS })
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

  async function readyWorkers(count) {
    const { mark, done } = countdown(count)
    const taskList = { task: async () => mark(1) }
    let runners = []
    return {
      async finish() {
        runners = await Promise.all(Array.from({ length: RUNNERS }, () => run({ ...options, taskList })))
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

  return { enqueue, readyWorkers, calm: schema.calm, close }
}

await measure('graphile-worker', open)
