import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Agents, as people write them: each sends heartbeats, gets work, stores checkpoints, submits results, and retries whatever
 * was not answered. They print what they do on stdout, a line of JSON each. Their settings, and how they misbehave, are in
 * BATON_AGENT; the test may also kill or stop the process, and lets waiting work continue by the line "go" on stdin.
 */
const settings = {
  url: '',
  key: '',
  slugs: ['agent'],
  /**
   * The session its heartbeats name; {} stands for the slug. Null: it names none, and works under the one it is assigned.
   */
  session: null,
  capacity: 1,
  batchSize: 1,
  /** Claims its work from the queue instead of waiting for assignments. */
  claims: false,
  leaseSeconds: undefined,
  heartbeatMs: 300,
  staleSeconds: 60,
  /** Sends no heartbeats when it is false. */
  registers: true,
  steps: 2,
  stepMs: 0,
  /** It treats all it is assigned as one piece of work, and submits the results together. */
  together: false,
  /** False: it accepts what it is assigned and never starts. */
  starts: true,
  /** Work waits after this step for "go": 0 is before the first. */
  holdsAt: null,
  /** False: from its first task on it sends no sign of life. */
  heartbeatsAtWork: true,
  ...JSON.parse(process.env.BATON_AGENT ?? '{}'),
}
const REQUEST_TIMEOUT_MS = 20_000
const LONG_POLL_MS = 5_000

const say = (is, agent, more) => console.log(JSON.stringify({ is, agent, ...more }))

let letContinue = () => undefined
const mayContinue = new Promise((resolve) => {
  letContinue = resolve
})
createInterface({ input: process.stdin })
  .on('line', (line) => line === 'go' && letContinue())
  // Its parent has ended, and nothing else would end it.
  .on('close', () => process.exit())

async function once(method, path, body) {
  const response = await fetch(`${settings.url}/api/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${settings.key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  })
  return { status: response.status, body: await response.json() }
}

/** Until there is an answer: what was not answered, or answered with 503, is repeated. */
async function ask(method, path, body) {
  for (;;) {
    const answer = await once(method, path, body).catch(() => null)
    if (answer !== null && answer.status < 500) return answer
    await sleep(100 + Math.random() * 200)
  }
}

class Agent {
  #slug
  #session
  /** What it works on, or was assigned and will not start. */
  #inHand = new Set()
  #atWork = new Set()
  #isHeartbeating = true
  #lastState = ''

  constructor(slug) {
    this.#slug = slug
    this.#session = settings.session?.replace('{}', slug)
  }

  async live() {
    const { capacity, batchSize, staleSeconds } = settings
    if (settings.registers)
      await ask('PUT', `/agents/${this.#slug}`, {
        maxConcurrentTasks: capacity,
        batchSize,
        heartbeatIntervalSeconds: 1,
        staleThresholdSeconds: staleSeconds,
        coordinatorEnabled: !settings.claims,
      })
    const { body } = await this.#heartbeat(ask)
    say('online', this.#slug, { state: body.state, claims: body.claims })
    void this.#heartbeatLoop()
    // What it held before its restart under this session it still holds.
    for (const claim of body.claims ?? [])
      if (claim.session === this.#mine()) this.#begin(() => this.#resume(claim))
    for (;;) {
      while (this.#atWork.size >= settings.capacity) await Promise.race(this.#atWork)
      const found = settings.claims ? await this.#next() : await this.#assigned()
      const fresh = found.filter((claim) => !this.#inHand.has(nameOf(claim)))
      if (fresh.length === 0) await sleep(50)
      if (settings.together && fresh.length > 0) await this.#workTogether(fresh)
      else for (const claim of fresh) this.#begin(() => this.#work(claim))
    }
  }

  #begin(act) {
    const work = act().finally(() => this.#atWork.delete(work))
    this.#atWork.add(work)
  }

  #mine = () => this.#session ?? `agent:${this.#slug}`

  #heartbeat(how) {
    return how('POST', `/agents/${this.#slug}/heartbeat`, this.#session ? { session: this.#session } : {})
  }

  async #heartbeatLoop() {
    while (this.#isHeartbeating) {
      await sleep(settings.heartbeatMs)
      if (!this.#isHeartbeating) return
      // A lost heartbeat is not repeated: the next one is as good.
      const answer = await this.#heartbeat(once).catch(() => null)
      if (answer === null || answer.status >= 500) continue
      const { status, body } = answer
      const state = status === 200 ? body.state : body.code
      if (state !== this.#lastState) say('state', this.#slug, { state })
      this.#lastState = state
      for (const { taskId, requests } of body.renewed ?? [])
        if (requests?.length > 0) say('requests', this.#slug, { taskId, requests })
    }
  }

  async #assigned() {
    const { body } = await ask('GET', `/agents/${this.#slug}/assignments?waitMs=${LONG_POLL_MS}`)
    return (body.claims ?? []).map((claim) => ({ ...claim, checkpointData: claim.task.checkpointData }))
  }

  async #next() {
    const limit = settings.capacity - this.#atWork.size
    const { leaseSeconds } = settings
    const who = { agent: this.#slug, session: this.#mine() }
    const { body } = await ask('POST', '/claims/next', { ...who, leaseSeconds, limit, waitMs: LONG_POLL_MS })
    return body.claims ?? []
  }

  async #resume(claim) {
    this.#inHand.add(nameOf(claim))
    const { body } = await ask('GET', `/tasks/${claim.taskId}`)
    await this.#work({ ...claim, checkpointData: body.checkpointData })
  }

  async #work(claim) {
    const { taskId, generation, attempt, checkpointData } = claim
    this.#inHand.add(nameOf(claim))
    say('has', this.#slug, { taskId, generation, attempt, checkpointData })
    if (!settings.starts) return
    if (!(await this.#act(claim, 'start'))) return
    if (!settings.heartbeatsAtWork) this.#isHeartbeating = false
    say('started', this.#slug, { taskId, generation })
    const from = checkpointData?.step ?? 0
    for (let step = from; step < settings.steps; step++) {
      if (settings.holdsAt === step) await mayContinue
      await sleep(settings.stepMs)
      const percent = ((step + 1) / settings.steps) * 100
      if (!(await this.#act(claim, 'progress', { percent, checkpointData: { step: step + 1 } }))) return
      say('progress', this.#slug, { taskId, generation, step: step + 1 })
    }
    if (settings.holdsAt === settings.steps) await mayContinue
    if (await this.#act(claim, 'submit', { result: { by: this.#slug, generation, from } }))
      say('done', this.#slug, { taskId, generation })
    this.#inHand.delete(nameOf(claim))
  }

  async #workTogether(claims) {
    await sleep(settings.stepMs)
    const results = claims.map(({ taskId, session, generation }) => {
      const result = { by: this.#slug, generation, from: 0 }
      return { taskId, session, generation, result }
    })
    await ask('POST', '/results/batch', { results })
  }

  /** Whether it was done; what is refused is not its task any more. */
  async #act({ taskId, generation, session }, act, more = {}) {
    const { status, body } = await ask('POST', `/tasks/${taskId}/${act}`, { session, generation, ...more })
    if (status === 200) return true
    say('refused', this.#slug, { taskId, generation, act, code: body.code })
    return false
  }
}

const nameOf = ({ taskId, generation }) => `${taskId} ${generation}`

await Promise.all(settings.slugs.map((slug) => new Agent(slug).live()))
