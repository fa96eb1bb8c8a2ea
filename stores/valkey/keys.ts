import { trackName } from '../../src/kernel/batch/requests.ts'
import type { TaskRecord } from '../../src/kinds/task/record.ts'

/** Events in one list: a page of events is found by its position, whatever the length of the log. */
export const EVENTS_PER_LIST = 1_000

/** Keys that belong to no workspace. */
export const sharedKeys = (prefix: string) => ({
  format: `{${prefix}}:format`,
  /** Hash: number by name. */
  workspaces: `{${prefix}}:workspaces`,
  /** Channel: commit notices. */
  commits: `{${prefix}}:commits`,
})

/** A ready queue for one set of capabilities: tasks for any agent with these, or reserved for one agent. */
export interface QueueName {
  /** Key of the set that names the non-empty queues of this owner. */
  index: string
  /** Where its owner is named, if it has one, and by which name. */
  owner: readonly [owners: string, owner: string] | readonly []
  /** Its name there: project, track queue, capabilities. */
  name: string
  key: string
}

/**
 * The names of a workspace's keys. All begin with one hash tag, so they are always on one server, and one script may touch
 * them together. User text comes last in a name, so that no name can be mistaken for another.
 */
export class Keys {
  readonly tag: string
  /**
   * Hash: head, version, seq, lastId, activeClaims, activeSessions, limits. Every write raises the version and leaves its
   * own name as the head.
   */
  readonly meta: string
  /** The writer lock and the writer queue, for processes that lost a race. */
  readonly writerLock: string
  readonly writerQueue: string
  /** Sorted by when a task is due, by when a held task was last touched, by when a session is checked. */
  readonly due: string
  readonly held: string
  readonly sessionsDue: string
  /** Sorted by start time, newest first. */
  readonly sessions: string
  readonly workers: string
  readonly deadLetters: string
  /** Sorted set without scores: the tasks that sessions hold, as `holding` names them. */
  readonly holds: string
  /** Set: the agents that have tasks reserved for them. */
  readonly queueOwners: string
  /** Hash: id of the task that has a key, by `keyName`. */
  readonly taskKeys: string
  /** Hash: number by slug. */
  readonly projects: string
  /** Hash: how many agents a declared track may have, by `trackName`. */
  readonly tracks: string
  /** Notes of what may unblock tasks (blocked.ts), sorted by the version that wrote them. */
  readonly unsettled: string

  constructor(prefix: string, workspaceId: number) {
    const tag = `{${prefix}:${workspaceId}}:`
    this.tag = tag
    this.meta = `${tag}meta`
    this.writerLock = `${tag}writer-lock`
    this.writerQueue = `${tag}writer-queue`
    this.due = `${tag}due`
    this.held = `${tag}held`
    this.sessionsDue = `${tag}sessions-due`
    this.sessions = `${tag}sessions`
    this.workers = `${tag}workers`
    this.deadLetters = `${tag}dead-letters`
    this.holds = `${tag}holds`
    this.queueOwners = `${tag}queue-owners`
    this.taskKeys = `${tag}task-keys`
    this.projects = `${tag}projects`
    this.tracks = `${tag}tracks`
    this.unsettled = `${tag}unsettled`
  }

  task = (id: number) => `${this.tag}task:${id}`
  /** As it was created; later changes are in a hash beside it. */
  details = (id: number) => `${this.tag}details:${id}`
  changed = (id: number) => `${this.tag}changed:${id}`
  /** List: the dependencies of a task. Set: the tasks that depend on it. */
  needs = (id: number) => `${this.tag}needs:${id}`
  /** Hash: what each of its dependencies contributed to the counts of a task. */
  counted = (id: number) => `${this.tag}counted:${id}`
  neededBy = (id: number) => `${this.tag}needed-by:${id}`
  /** List: the claims before the last one, which is in the task itself. */
  claims = (id: number) => `${this.tag}claims:${id}`
  /** By their place among the results of the task, from 0. */
  result = (id: number, place: number) => `${this.tag}result:${id}:${place}`
  events = (seq: number) => `${this.tag}events:${Math.floor((seq - 1) / EVENTS_PER_LIST)}`
  session = (name: string) => `${this.tag}session:${name}`
  /** Sorted by end time: the claims it lost. */
  lost = (session: string) => `${this.tag}lost:${session}`
  /** Hash: how many tasks of a track each agent holds. */
  onTrack = (projectId: number, track: string) => `${this.tag}on-track:${trackName(projectId, track)}`
  user = (userId: string) => `${this.tag}user:${userId}`
  storedReplies = (key: string) => `${this.tag}reply:${key}`
  transaction = (id: string) => `${this.tag}transaction:${id}`

  /** Names the queues of an agent, or of all agents. */
  queues = (agent: string | null) => (agent === null ? `${this.tag}queues` : `${this.tag}queues-of:${agent}`)

  /** The queue of a task while it is queued. */
  queue({ onlyAgent, projectId, trackQueue, capabilities }: TaskRecord): QueueName {
    const isCommon = onlyAgent === null && capabilities.length === 0
    const last = this.#lastCommonQueue
    if (isCommon && last?.projectId === projectId && last.trackQueue === trackQueue) return last.queue
    const queue = this.#queueNamed(onlyAgent, projectId, trackQueue, capabilities)
    if (isCommon) this.#lastCommonQueue = { projectId, trackQueue, queue }
    return queue
  }

  /** Tasks that follow each other are mostly in one queue. */
  #lastCommonQueue: { projectId: number; trackQueue: string; queue: QueueName } | null = null

  #queueNamed(
    onlyAgent: string | null,
    projectId: number,
    trackQueue: string,
    capabilities: readonly string[],
  ): QueueName {
    const name = `${projectId}/${trackQueue}/${capabilitiesName(capabilities)}`
    const owner = onlyAgent === null ? '' : encoded(onlyAgent)
    return {
      index: this.queues(onlyAgent),
      owner: onlyAgent === null ? [] : [this.queueOwners, onlyAgent],
      name,
      key: `${this.tag}queue:${owner}/${name}`,
    }
  }

  /** The prefix of the keys of an owner's queues. */
  queuePrefix = (agent: string | null) => `${this.tag}queue:${agent === null ? '' : encoded(agent)}/`
}

/** A dot, then letters, digits, - and _: scripts can split it, and user text cannot end it early. */
export function encoded(text: string): string {
  const known = knownEncoded.get(text)
  if (known !== undefined) return known
  const made = `.${Buffer.from(text).toString('base64url')}`
  if (knownEncoded.size >= MOST_ENCODED) knownEncoded.clear()
  knownEncoded.set(text, made)
  return made
}
/** The same few names of sessions come with every task. */
const knownEncoded = new Map<string, string>()
const MOST_ENCODED = 5_000

const capabilitiesName = (capabilities: readonly string[]) => capabilities.map(encoded).join('')

/** A member of `holds`. Those of one session follow each other, between `holdingFrom` and `holdingTo`. */
export const holding = (session: string, id: number) => `${encoded(session)}/${id}`
export const holdingFrom = (session: string) => `[${encoded(session)}/`
/** The character after the slash is a zero. */
export const holdingTo = (session: string) => `(${encoded(session)}0`
export const heldIdOf = (member: string) => Number(member.slice(member.indexOf('/') + 1))

/** Of equal ranks the lower id comes first: members of a sorted set with equal scores are ordered by their text. */
export function member(id: number): string {
  if (id !== lastMember.id) lastMember = { id, text: String(id).padStart(16, '0') }
  return lastMember.text
}
/** All indexes of a task are written one after the other. */
let lastMember = { id: -1, text: '' }
export const idOf = (member: string) => Number(member)
