import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import type { NodeMessage, OnNodeMessage } from '../../kernel/store/node-messages.ts'
import type { Committed } from '../../kernel/store/store.ts'
import { KEYS_CHANNEL } from '../statements/revoked-notices.ts'
import { type ConnectionTarget, openClient } from './connect.ts'

const CHANNEL = 'baton_commits'
const NODES_CHANNEL = 'baton_nodes'
/** The minimum time between two notices, so that a busy node sends one for many commits. */
const PAUSE_MS = 10
const RECONNECT_MS = 1_000

type Said = Parameters<Committed>[1]

/** Ids of revoked keys; null when notices of revocations may have been missed. */
export type Revoked = (keyIds: readonly string[] | null) => void

/**
 * Notifies other nodes of commits, and receives their notices. A notice is a hint: waiting callers read for themselves, and
 * also poll slowly. Never sent within a writing transaction, where it would be a bottleneck.
 */
export class Notices {
  readonly #way: ConnectionTarget
  readonly #sender: pg.Pool
  readonly #heard: Committed
  readonly #revoked: Revoked
  readonly #messaged: OnNodeMessage
  readonly #node = randomUUID()
  readonly #unsaid = new Map<number, Said>()
  #listening: pg.Client | null = null
  #timer: NodeJS.Timeout | null = null
  #closed = false

  constructor(
    way: ConnectionTarget,
    sender: pg.Pool,
    { heard, revoked, messaged }: { heard: Committed; revoked: Revoked; messaged: OnNodeMessage },
  ) {
    this.#way = way
    this.#sender = sender
    this.#heard = heard
    this.#revoked = revoked
    this.#messaged = messaged
  }

  /** Resolves when notices are received, or when the connection is being retried in the background. */
  async listen(): Promise<void> {
    if (this.#closed) return
    let client: pg.Client | null = null
    try {
      client = await openClient(this.#way, 'baton-notices')
      const again = () => this.#listenAgain(client)
      this.#listening = client
      client.on('error', again)
      client.on('end', again)
      client.on('notification', ({ channel, payload = '' }) => {
        if (channel === KEYS_CHANNEL) this.#revoked(JSON.parse(payload))
        else if (channel === NODES_CHANNEL) this.#hearNode(payload)
        else this.#hear(payload)
      })
      for (const channel of [CHANNEL, KEYS_CHANNEL, NODES_CHANNEL]) await client.query(`listen ${channel}`)
      // Notices sent while we did not listen are lost.
      this.#revoked(null)
      this.#messaged(null)
      // Closed meanwhile: `close` found no client to end.
      if (this.#closed) await client.end()
    } catch {
      this.#listenAgain(client)
    }
  }

  #listenAgain(client: pg.Client | null): void {
    if (this.#listening !== client) return
    this.#listening = null
    void client?.end().catch(() => undefined)
    if (!this.#closed) setTimeout(() => void this.listen(), RECONNECT_MS).unref()
  }

  say(workspaceId: number, what: Said): void {
    const said = this.#unsaid.get(workspaceId)
    this.#unsaid.set(workspaceId, {
      events: (said?.events ?? 0) + what.events,
      tasksWaiting: what.tasksWaiting || (said?.tasksWaiting ?? false),
      seq: Math.max(what.seq ?? 0, said?.seq ?? 0),
    })
    if (this.#timer || this.#closed) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#send()
    }, PAUSE_MS)
    this.#timer.unref()
  }

  /** Tells the other nodes at once. Best effort: a node that needs the message asks again. */
  send(message: NodeMessage): void {
    if (this.#closed) return
    const { text, values } = this.telling(message)
    this.#sender.query(text, values).catch(() => undefined)
  }

  /** The same as a statement, for a transaction that writes what the message is about. */
  telling(message: NodeMessage): { text: string; values: string[] } {
    const payload = JSON.stringify([this.#node, message])
    return { text: 'select pg_notify($1, $2)', values: [NODES_CHANNEL, payload] }
  }

  async close(): Promise<void> {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#listening?.end().catch(() => undefined)
  }

  #send(): void {
    const said = [...this.#unsaid].map(([workspaceId, { events, tasksWaiting, seq }]) => [
      workspaceId,
      events,
      tasksWaiting ? 1 : 0,
      seq,
    ])
    this.#unsaid.clear()
    // Payloads are limited to 8,000 bytes; a hundred workspaces fit easily.
    for (let i = 0; i < said.length; i += 100) {
      const payload = JSON.stringify([this.#node, ...said.slice(i, i + 100)])
      this.#sender.query('select pg_notify($1, $2)', [CHANNEL, payload]).catch(() => undefined)
    }
  }

  #hearNode(payload: string): void {
    const [node, message] = JSON.parse(payload) as [string, NodeMessage]
    if (node !== this.#node) this.#messaged(message, node)
  }

  #hear(payload: string): void {
    const [node, ...said] = JSON.parse(payload) as [string, ...[number, number, number, number?][]]
    if (node === this.#node) return
    // Nodes of earlier versions name no number.
    for (const [workspaceId, events, tasksWaiting, seq] of said)
      this.#heard(workspaceId, { events, tasksWaiting: tasksWaiting === 1, seq: seq || undefined })
  }
}
