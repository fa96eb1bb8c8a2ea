import { actsOf } from '../../door/door.ts'
import type { ServerKernel } from '../../door/server-kernel.ts'
import type { Caller } from '../../kernel/kernel.ts'
import { alertWords, SEVERITIES } from '../../kinds/alert/causes.ts'
import type { ListedNode } from '../../postgres/cluster/nodes.ts'
import { instant } from '../../pure/instant.ts'
import type { AnswerOf } from '../../pure/shapes.ts'
import { AGENT_STATES } from '../../pure/states.ts'
import { itemView } from '../inbox/acts/items.ts'
import * as api from './api.ts'
import { OVERVIEW_WINDOWS, type OverviewWindow } from './periods.ts'
import { type OverviewRead, overviewOf } from './postgres.ts'
import type { Overview } from './shapes.ts'

/** A workspace at a glance. */

type Answer = AnswerOf<typeof Overview>

export async function showOverview(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  window: OverviewWindow,
): Promise<Answer> {
  const width = OVERVIEW_WINDOWS[window]
  const { cluster, readers } = kernel.store
  const [read, nodes] = await Promise.all([overviewOf(readers, workspaceId, width), cluster.nodes()])
  const { began, ended, counts, inbox, agents, missions, eventsInLastMinute, seq } = read
  return {
    window,
    from: instant(began),
    to: instant(ended),
    bucketMs: width.bucketMs,
    counts,
    waiting: {
      // A mission that has ended waits for nothing.
      count: inbox.counts.reduce((sum, { kind, count }) => sum + (kind === 'finished' ? 0 : count), 0),
      items: inbox.items.map((row) => withShortTexts(itemView(row))),
    },
    running: runningView(read.running),
    throughput: throughputView(read, width),
    spend: spendView(read.spend, width.buckets),
    agents: {
      counts: Object.fromEntries(
        AGENT_STATES.map((state) => [state, agents.counts?.[state] ?? 0]),
      ) as Answer['agents']['counts'],
      inError: agents.inError.map((agent) => ({ ...agent, since: instant(agent.since) })),
    },
    alerts: {
      counts: Object.fromEntries(
        SEVERITIES.map((severity) => [severity, read.alerts.counts?.[severity] ?? 0]),
      ) as Answer['alerts']['counts'],
      items: read.alerts.items.map((one) => ({
        ...one,
        title: alertWords(one.cause),
        since: instant(one.since),
      })),
    },
    missions,
    ended: {
      tasks: read.justEnded.tasks.map((one) => ({ ...one, at: instant(one.at) })),
      missions: read.justEnded.missions.map((one) => ({ ...one, at: instant(one.at) })),
    },
    coordinator: coordinatorView(nodes),
    eventsPerSecond: Math.round((eventsInLastMinute / 60) * 100) / 100,
    seq,
  }
}

const LONGEST_TEXT = 300
const short = (text: string | null) => (text === null ? null : text.slice(0, LONGEST_TEXT).toWellFormed())

const withShortTexts = (item: ReturnType<typeof itemView>): ReturnType<typeof itemView> => ({
  ...item,
  title: short(item.title)!,
  reason: short(item.reason),
})

const runningView = ({ count, items }: OverviewRead['running']): Answer['running'] => ({
  count,
  items: items.map(({ maxRetries, since, flag, ...row }) => ({
    ...row,
    since: instant(since),
    maxAttempts: maxRetries === null ? null : maxRetries + 1,
    flag: flag && { ...flag, at: instant(flag.at) },
  })),
})

/** Every bucket of the period, with what was read of it. */
const filled = <T, R>(
  buckets: number,
  read: readonly (T & { place: number })[],
  view: (bucket: T | undefined, place: number) => R,
): R[] => {
  const byPlace = new Map(read.map((bucket) => [bucket.place, bucket]))
  return Array.from({ length: buckets }, (_, place) => view(byPlace.get(place), place))
}

function throughputView(
  { throughput, began }: OverviewRead,
  { bucketMs, buckets }: { bucketMs: number; buckets: number },
): Answer['throughput'] {
  const { countedFrom } = throughput
  const isCounted = (place: number) => countedFrom === null || began + place * bucketMs >= countedFrom
  return {
    perBucket: filled(buckets, throughput.buckets, (bucket, place) =>
      isCounted(place) ? [bucket?.completed ?? 0, bucket?.failed ?? 0] : null,
    ),
    completed: throughput.buckets.reduce((sum, { completed }) => sum + completed, 0),
    failed: throughput.buckets.reduce((sum, { failed }) => sum + failed, 0),
  }
}

const spendView = (
  { buckets: read, ...totals }: OverviewRead['spend'],
  buckets: number,
): Answer['spend'] => ({
  perBucket: filled(buckets, read, (bucket) => (bucket ? bucket.usd : '0')),
  ...totals,
})

function coordinatorView(nodes: readonly ListedNode[]): Answer['coordinator'] {
  const leader = nodes.find(({ leadsTerm }) => leadsTerm !== null)
  return {
    node: leader?.name ?? null,
    isHealthy: leader?.state === 'alive',
    nodes: nodes.filter(({ state }) => state === 'alive').length,
  }
}

export const overviewActs = actsOf(api)({
  readOverview: ({ kernel }, { query, caller }) => showOverview(kernel, caller, query.window),
})
