import type { AgentTypes } from '../../kinds/agent/kind.ts'
import { NO_RECORDS } from '../../kinds/all.ts'
import type { Origin } from '../../kinds/events.ts'
import type { KindShape, PortableKind, TaskWork } from '../../kinds/kind.ts'
import type { GrantedTask, NextGranted, Reply, TaskReply } from '../../kinds/replies.ts'
import type { SessionTypes } from '../../kinds/session/kind.ts'
import type { OnTask, RuleContext, TaskCommand } from '../../kinds/task/command.ts'
import { type Actor, type Effects, noEffects, type TaskRecord } from '../../kinds/task/record.ts'
import { whyNotAsking } from '../../kinds/task/rules/acting.ts'
import { isForAnyTask } from '../../kinds/task/rules/claim.ts'
import type { PastHolder } from '../../kinds/task/rules/claim-request.ts'
import { decide } from '../../kinds/task/rules/decide.ts'
import type { CountedDependency } from '../../kinds/task/rules/upstream-counts.ts'
import { notLeader, type Refusal, refuse } from '../../pure/errors.ts'
import { ProjectFairness } from '../../pure/fairness.ts'
import { whyNotAlong } from './along.ts'
import { BudgetBatch } from './budget-batch.ts'
import { Contracting } from './contracting.ts'
import { Creation } from './creation.ts'
import { FirstAnswers } from './first-answer.ts'
import { type Holders, heldTasks } from './held-tasks.ts'
import { type KindBatch, KindBatches } from './kind-batch.ts'
import { MissionBatch } from './mission-batch.ts'
import { type MovedTask, mayConcernOthers } from './moved.ts'
import { queryName } from './queue-filter.ts'
import { fits, ReadyQueue, readyQueuesFor, takesOnlyReserved } from './ready-queue.ts'
import {
  type Changes,
  dependencyName,
  heldName,
  isOnTrack,
  type NextWanted,
  type OnRecord,
  type Request,
  type View,
} from './requests.ts'
import { TrackCounts } from './track-counts.ts'

/**
 * Decides a whole batch in order: each request sees the effects of the previous ones. Replies are in the order of the
 * requests. From tasks that `moved` something may follow. `fairness` keeps, across batches, which project was served last.
 */
export function decideAll(
  view: View<PortableKind>,
  requests: readonly Request[],
  fairness: ProjectFairness = new ProjectFairness(),
): { replies: Reply[]; changes: Changes; moved: MovedTask[] } {
  // A store without a kind gets no requests on it: the type of its kernel excludes them.
  const whole: View = { ...view, kinds: { ...NO_RECORDS, ...view.kinds } }
  return new Batch(whole, requests, fairness).run()
}

type Claim = Effects['claims'][number]

const NO_TASKS: TaskWork = { tasks: [], changes: [] }

const add = (counts: Map<string, number>, name: string, change: number) =>
  counts.set(name, (counts.get(name) ?? 0) + change)

class Batch {
  readonly #view: View
  readonly #requests: readonly Request[]
  readonly #fairness: ProjectFairness
  readonly #effects = noEffects()
  readonly #changed = new Map<number, TaskRecord>()
  readonly #moved: MovedTask[] = []
  #place = 0
  readonly #kinds: KindBatches
  readonly #sessions: KindBatch<SessionTypes>
  readonly #agents: KindBatch<AgentTypes>
  readonly #firstAnswers: FirstAnswers
  readonly #grantedTasks: GrantedTask[] = []
  readonly #readyQueues: ReadonlyMap<string, ReadyQueue>
  readonly #creation: Creation
  readonly #missions: MissionBatch
  readonly #onTrack: TrackCounts
  readonly #budgets: BudgetBatch
  /** How the claims of this batch change the number of tasks that sessions and agents hold. */
  readonly #holds = new Map<string, number>()
  readonly #agentHolds = new Map<string, number>()
  readonly #context: RuleContext
  readonly #roomForClaims: number
  #activeClaimsDelta = 0
  #countedClaims = 0
  #seenDependencies = 0
  /** Dependencies that were counted in this batch. */
  readonly #counted = new Map<string, CountedDependency>()
  #seenCounts = 0
  readonly #removed = new Set<string>()
  #seenRemoved = 0

  constructor(view: View, requests: readonly Request[], fairness: ProjectFairness) {
    this.#view = view
    this.#requests = requests
    this.#fairness = fairness
    const { now, limits, activeClaims, kinds } = view
    this.#firstAnswers = new FirstAnswers(view.storedReplies, now)
    this.#kinds = new KindBatches(kinds)
    this.#sessions = this.#kinds.of('session')
    this.#agents = this.#kinds.of('agent')
    this.#missions = new MissionBatch(view, this.#kinds.of('mission'), this.#effects)
    this.#onTrack = new TrackCounts(view.tracks)
    this.#budgets = new BudgetBatch(
      view.budgets,
      now,
      () => this.#countClaims(),
      this.#kinds.of('budget').changed,
    )
    this.#roomForClaims = limits.maxConcurrentClaims - activeClaims
    this.#context = {
      ...{ now, limits, actor: '', roomForClaims: 0 },
      ...{ worker: undefined, outside: undefined, trackIsFull: undefined },
      recordOf: this.#record,
      holderOf: this.#holderOf,
      dependencyOf: this.#dependencyOf,
      missionOf: this.#missions.gate,
      ...this.#budgets.seenByRules,
    }
    this.#readyQueues = readyQueuesFor(requests, view.waiting, this.#record)
    this.#creation = new Creation({
      view,
      outside: () => this.#context.outside,
      record: this.#record,
      apply: (item, actor) => this.#apply(item, actor),
      markAwaited: this.#markAwaited,
      emit: (event) => this.#effects.events.push(event),
      mission: this.#missions.progress,
      children: this.#missions.children,
      made: (record) => this.#missions.count(null, record),
      contracting: new Contracting(view, this.#agents, this.#effects),
      firstAnswers: this.#firstAnswers,
    })
  }

  run() {
    const replies = this.#requests.map((request, place) => this.#answer(request, place))
    this.#missions.settle()
    const changes: Changes = {
      ...this.#effects,
      tasks: [...this.#changed.values()],
      created: this.#creation.created,
      dependencies: [...this.#effects.dependencies, ...this.#creation.dependencies],
      kinds: this.#kinds.changes(),
      grantedTasks: this.#grantedTasks,
      newReplies: this.#firstAnswers.fresh,
      missions: this.#missions.changes,
      reservations: this.#budgets.changes,
      activeClaimsDelta: this.#activeClaimsDelta,
    }
    return { replies, changes, moved: this.#moved }
  }

  #answer(request: Request, place: number): Reply {
    this.#place = place
    // Before any rule: the first answer stays valid even if the state, the fence or a limit would now refuse.
    const first = this.#firstAnswers.to(request.idempotency)
    if (first) return first
    const reply = this.#decide(request)
    this.#firstAnswers.keep(request, reply)
    return reply
  }

  #decide(request: Request): Reply {
    const { term } = request
    if (term !== undefined && !this.#view.terms.has(term)) return notLeader(term)
    this.#context.outside = request.outside
    switch (request.on) {
      case 'task':
        return this.#apply(request, request.actor)
      case 'many': {
        if (request.ifAllUnchanged && !request.items.every(this.#isAsSeen))
          return { ok: true, reason: 'NOTHING_DUE', replies: [] }
        const replies = request.items.map((item) => this.#apply(item, request.actor))
        return { ok: true, reason: replies.some(({ ok }) => ok) ? 'SOME_DONE' : 'ALL_REFUSED', replies }
      }
      case 'next':
        return this.#next(request, request.actor)
      case 'taskThenNext': {
        const done = this.#apply(request.item, request.actor)
        if (!done.ok) return done
        const { reason } = done
        return { ok: true, reason, done, next: this.#next(request.next, request.actor) }
      }
      case 'new':
        return this.#creation.create(request, request.actor)
      default:
        return this.#onRecord(request)
    }
  }

  #isAsSeen = ({ taskId, command }: OnTask): boolean =>
    'version' in command && command.version === this.#record(taskId)?.version

  #apply<C extends TaskCommand>(item: OnTask<C>, actor: Actor): TaskReply<C['kind']> {
    const { taskId, uuid, command, said } = item
    const record = this.#record(taskId)
    if (!record || record.uuid !== uuid)
      return refuse('NOT_FOUND', `There is no task ${uuid} in this workspace.`)
    const decision = decide(record, command, this.#contextFor(command, actor), this.#effects, said)
    if (decision.record !== record) {
      this.#changed.set(taskId, decision.record)
      this.#missions.count(record, decision.record)
    }
    const moved = { before: record, after: decision.record, place: this.#place }
    if ((decision.reply.ok || decision.record !== record) && mayConcernOthers(moved)) this.#moved.push(moved)
    this.#countClaims()
    const { dependencies } = this.#effects
    for (; this.#seenDependencies < dependencies.length; this.#seenDependencies++)
      this.#markAwaited(dependencies[this.#seenDependencies]!.dependsOn)
    this.#noteCounts()
    return decision.reply
  }

  /** A later command of this batch sees what was counted, and what is gone. */
  #noteCounts(): void {
    const { recounted, removed } = this.#effects
    const nameOf = (one: { taskId: number; dependsOn: number }) => dependencyName(one.taskId, one.dependsOn)
    for (; this.#seenCounts < recounted.length; this.#seenCounts++)
      this.#counted.set(nameOf(recounted[this.#seenCounts]!), recounted[this.#seenCounts]!)
    for (; this.#seenRemoved < removed.length; this.#seenRemoved++)
      this.#removed.add(nameOf(removed[this.#seenRemoved]!))
  }

  #dependencyOf = (taskId: number, dependsOn: number) => {
    const name = dependencyName(taskId, dependsOn)
    if (this.#removed.has(name)) return undefined
    return this.#counted.get(name) ?? this.#view.dependencies.get(name)
  }

  /** Not a change that people see: its version stays. Both tasks of a dependency are locked when it is written. */
  #markAwaited = (id: number): void => {
    const record = this.#record(id)
    if (record && !record.awaited) this.#changed.set(id, { ...record, awaited: true })
  }

  #record = (id: number) => this.#changed.get(id) ?? this.#view.records.get(id)

  /** Who held a past generation: it may have ended only in this batch. */
  #holderOf = (taskId: number, generation: number): PastHolder | undefined => {
    const past = this.#view.pastHolders.get(heldName(taskId, generation))
    if (past !== undefined) return past
    const before = this.#view.records.get(taskId)
    if (before?.generation === generation && before.session !== null) return before as PastHolder
    const isIt = (claim: Claim) => claim.taskId === taskId && claim.generation === generation
    const opened = this.#effects.claims.find((claim) => claim.kind === 'opened' && isIt(claim))
    return opened && { session: opened.session, agent: opened.agent, acquiredAt: opened.at }
  }

  /** One object per batch, updated for each decision: no rule keeps it, and a batch makes thousands of decisions. */
  #contextFor(command: TaskCommand, actor: Actor): RuleContext {
    const context = this.#context
    const isClaim = command.kind === 'claim'
    context.actor = actor
    context.roomForClaims = this.#roomForClaims - this.#activeClaimsDelta
    const mayBeWorker = isClaim && this.#view.workers.size + this.#sessions.changed.size > 0
    context.worker = mayBeWorker ? this.#worker(command.session) : undefined
    context.agent = isClaim ? this.#knownAgent(command.agent) : undefined
    context.trackIsFull = isClaim ? this.#trackIsFull : undefined
    return context
  }

  /** The session, if it is a worker by now, and how many tasks it holds by now. */
  #worker(session: string): RuleContext['worker'] {
    const seen = this.#view.workers.get(session)
    const changed = this.#sessions.changed.get(session)
    const record = changed ?? seen?.record
    if (!record || record.capacity === null) return undefined
    const held = changed
      ? this.#heldBy(this.#sessions, session).length
      : seen!.held + (this.#holds.get(session) ?? 0)
    return { record, held }
  }

  /** How many agents the track of this task has, if there is no place for this one; else null. */
  #trackIsFull = (record: TaskRecord, agent: string): number | null => {
    if (!isOnTrack(record)) return null
    // Its last claim may have just been found to have ended.
    this.#countClaims()
    return this.#onTrack.fullFor(record, agent)
  }

  #countClaims(): void {
    const { claims } = this.#effects
    for (; this.#countedClaims < claims.length; this.#countedClaims++) {
      const claim = claims[this.#countedClaims]!
      const change = claim.kind === 'opened' ? 1 : -1
      this.#activeClaimsDelta += change
      if (this.#view.workers.size > 0) add(this.#holds, claim.session, change)
      if (this.#view.claimingAgents.size > 0) add(this.#agentHolds, claim.agent, change)
      if (!this.#onTrack.isEmpty) this.#onTrack.count(claim, this.#record(claim.taskId)!, change)
      if (!this.#budgets.isEmpty) this.#budgets.count(claim, this.#record(claim.taskId)!)
    }
  }

  #next(wanted: NextWanted, actor: Actor): NextGranted | Refusal {
    const { pick, limit, ...claim } = wanted
    const foreign = whyNotAsking(this.#context.outside, pick)
    if (foreign) return foreign
    const command = { kind: 'claim', agent: pick.agent, capabilities: pick.capabilities, ...claim } as const
    const claims: GrantedTask[] = []
    const queue = takesOnlyReserved(pick)
      ? new ReadyQueue([], this.#record)
      : this.#readyQueues.get(queryName(pick))!
    const offers = queue.of(this.#reservedFor(pick), this.#fairness)
    let offer = offers.next()
    let hasMoved = false
    while (!offer.done && claims.length < limit) {
      const { id, uuid } = offer.value
      const reply = this.#apply({ taskId: id, uuid, command }, actor)
      if (reply.ok) {
        claims.push({ claim: reply.claim, record: this.#record(id)! })
        offer = offers.next('taken')
        continue
      }
      if (isForAnyTask(reply)) {
        if (claims.length === 0) return reply
        break
      }
      hasMoved ||= this.#record(id)!.rank === null
      offer = offers.next(reply.code === 'TRACK_FULL' ? 'full' : 'refused')
    }
    this.#grantedTasks.push(...claims)
    // The tasks that were read had expired, and no more had been read: there may be work behind them.
    const shouldRetry = claims.length === 0 && hasMoved
    return { ok: true, reason: claims.length > 0 ? 'GRANTED' : 'NO_WORK', claims, shouldRetry }
  }

  #reservedFor(pick: NextWanted['pick']): TaskRecord[] {
    const records = [...new Set(this.#view.reserved)].map((id) => this.#record(id)!)
    return records.filter((record) => fits(record, pick))
  }

  #onRecord(request: OnRecord & { actor: Actor; origin?: Origin | undefined }): Reply {
    const { on, key, uuid, command, actor, origin = { actor } } = request
    const records = this.#kinds.of(on) as unknown as KindBatch<KindShape>
    const before = records.current(key)
    const holding = this.#heldBy(records, key)
    const [seen, { now, limits }, { outside }] = [records.seen(key), this.#view, this.#context]
    const context = {
      ...{ now, limits, actor, origin, outside, holding, seen },
      ...{ all: records.all, counted: records.counted, missionOf: this.#missions.progress },
    }
    const decision = records.kind.decide(before, { key, uuid }, command, context)
    if (decision.refusal) return decision.refusal
    const { comments = [], reports = [], mission = null, others, along, also = null } = decision
    const contextOf = (one: TaskCommand) => this.#contextFor(one, actor)
    const notAlong =
      along &&
      whyNotAlong(along, context, { contextOf, record: this.#record, missions: this.#kinds.of('mission') })
    if (notAlong) return notAlong
    for (const one of [mission && { on: 'mission' as const, key: mission.uuid, ...mission }, also]) {
      const made = one && this.#onRecord({ ...one, actor, origin })
      if (made && !made.ok) return made
    }
    const apply = () => {
      records.decided(key, decision)
      this.#effects.events.push(...decision.events)
      this.#effects.comments.push(...comments)
      this.#effects.reports.push(...reports)
    }
    const work = decision.creates ?? NO_TASKS
    const isWork = work.tasks.length + work.changes.length > 0
    const worked = isWork ? this.#creation.create(work, actor, apply) : apply()
    if (worked && !worked.ok) return worked
    for (const item of along?.tasks ?? []) this.#apply(item, actor)
    for (const one of along?.missions ?? [])
      this.#onRecord({ on: 'mission', key: one.uuid, ...one, actor, origin })
    const record = (worked && decision.withTasks?.(worked.records)) || decision.record
    records.set(key, record)
    const settled = holding.flatMap((task) => {
      const then = decision.settle(task)
      if (!then) return []
      const { id, uuid: taskId, generation } = task
      return { taskId, generation, reply: this.#apply({ taskId: id, uuid: taskId, command: then }, actor) }
    })
    return records.kind.granted({
      ...{ record, before, holding, settled, comments, reports, mission, others },
      holds: () => this.#heldBy(records, key),
      seen,
    })
  }

  #heldBy = (holders: Holders, key: string): TaskRecord[] =>
    heldTasks(holders, key, {
      ...{ ids: () => this.#view.records.keys(), claims: this.#effects.claims, record: this.#record },
    })

  /** The agent, if any limit applies to its claims, and how many tasks it holds by now. */
  #knownAgent(slug: string): RuleContext['agent'] {
    const seen = this.#view.claimingAgents.get(slug)
    const changed = this.#agents.changed.get(slug)
    const record = changed === undefined ? seen?.record : changed
    if (!record) return undefined
    // Tasks that it got after those of `holding` were locked count, too.
    const held = seen
      ? seen.held + (this.#agentHolds.get(slug) ?? 0)
      : this.#heldBy(this.#agents, slug).length
    return { record, held }
  }
}
