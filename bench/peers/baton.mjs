import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { inParts, measure } from './measure.mjs'
import { cleanSchema } from './schema.mjs'

const [, , , , , build = join(import.meta.dirname, '../..')] = process.argv
const { createQueue } = await import(pathToFileURL(join(build, 'dist/src/queue/queue.js')).href)

const TASKS_A_PART = 1_000
/** In bulk: one fetches tasks while another submits. */
const WORKERS_IN_BULK = 4
const TASKS_AT_ONCE = 500

async function open(url, workers) {
  const schema = url.startsWith('postgres') ? await cleanSchema(url, 'baton') : null
  const queue = await createQueue(url, { workspace: `bench-${process.pid}` })

  function enqueue(payloads) {
    const tasks = payloads.map((input) => ({ title: 'task', input }))
    return inParts(tasks, TASKS_A_PART, (part) => queue.enqueueMany(part))
  }

  /** Earlier builds submit each result with a call of its own. */
  function finishAll(claims) {
    const results = claims.map((claim) => ({ claim, result: { n: claim.task.input.n } }))
    if (queue.submitMany) return queue.submitMany(results)
    return Promise.all(results.map(({ claim, result }) => queue.submit(claim, result)))
  }

  async function work(worker) {
    for (;;) {
      const claims = await queue.nextMany(worker, TASKS_AT_ONCE)
      if (claims.length === 0) return
      await finishAll(claims)
    }
  }

  /** As its work loop does: the next task comes with the answer to the result. Earlier builds cannot do that. */
  async function finishAndNext(worker, claim) {
    const result = { n: claim.task.input.n }
    if (queue.submitAndNext) return (await queue.submitAndNext(claim, result)).next
    await queue.submit(claim, result)
    return queue.next(worker)
  }

  async function workOneAtATime(worker) {
    let claim = await queue.next(worker)
    while (claim) claim = await finishAndNext(worker, claim)
  }

  async function readyWorkers() {
    const [count, loop] = workers === 0 ? [WORKERS_IN_BULK, work] : [workers, workOneAtATime]
    return {
      finish: () => Promise.all(Array.from({ length: count }, (_, n) => loop(`worker-${n}`))),
      stop: async () => undefined,
    }
  }

  async function close() {
    await queue.close()
    await schema?.close()
  }

  const keeps = 'the task, its attempts, its result, its events'
  return { version: 'this', keeps, enqueue, readyWorkers, calm: async () => schema?.calm(), close }
}

await measure('baton', open)
