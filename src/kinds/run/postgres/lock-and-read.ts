import type pg from 'pg'
import type { StoredReply } from '../../../kernel/batch/requests.ts'
import type { PlainRows } from '../../../postgres/statements/plain-rows.ts'
import { arrayLiteral } from '../../../postgres/statements/rows.ts'
import { send } from '../../../postgres/statements/send.ts'
import {
  type Bound,
  begin,
  clock,
  keepTerms,
  nameWorkspace,
  type Statement,
  storedReplies,
} from '../../../postgres/statements/statements.ts'
import { readWithHealth } from '../../agent/postgres/rows.ts'
import { stoppedAgents } from '../../budget/postgres/seen.ts'
import { askForUsage } from '../../usage/postgres/lock-and-read.ts'
import type { WakeupRecord } from '../record.ts'
import {
  type AboutTask,
  aboutName,
  type FirstDue,
  keyedName,
  type RunsAsk,
  type RunsView,
  type SessionKey,
  type UsedByRuns,
} from '../rules/step.ts'
import { runRows, runtimeRows, wakeupRows } from './rows.ts'
import * as sql from './statements.ts'

type Rows = readonly (readonly unknown[])[]

/** Begins the transaction, locks and reads what is asked for, and then reads the clock: one round trip. */
export async function lockAndReadRuns(
  client: pg.PoolClient,
  workspaceId: number,
  ask: RunsAsk,
): Promise<RunsView> {
  const statements: Bound[] = [
    [begin, []],
    [nameWorkspace, [String(workspaceId)]],
  ]
  let answers: pg.QueryArrayResult[] = []
  /** Asked only if there is something to ask about. */
  const rowsOf = (statement: Statement, ...lists: (readonly unknown[])[]): (() => Rows) => {
    if (lists[0]!.length === 0) return () => []
    const place = statements.push([statement, [workspaceId, ...lists.map(arrayLiteral)]]) - 1
    return () => answers[place]!.rows
  }
  const { agents, runs, wakeups, keys, sessionsOf, othersOf, liveRunsOf } = ask
  const terms = ask.terms.length > 0 ? statements.push([keepTerms, [arrayLiteral(ask.terms)]]) - 1 : null
  const spending = [othersOf.map(({ runId }) => runId), othersOf.map(({ taskId }) => taskId)] as const
  const about = [wakeups.about.map(({ agent }) => agent), wakeups.about.map(({ taskId }) => taskId)] as const
  rowsOf(sql.keepAgents, agents)
  rowsOf(sql.addRuntime, agents)
  const runtime = rowsOf(sql.lockRuntime, agents)
  const waiting = rowsOf(sql.lockWaiting, ...about)
  const firstDue = rowsOf(sql.lockFirstDue, wakeups.firstDueOf)
  const ofRuns = rowsOf(sql.lockWakeupsOfRuns, runs)
  const locked = rowsOf(sql.lockRuns, runs)
  const running = rowsOf(sql.runningAbout, ...about)
  const recently = rowsOf(sql.wokenRecently, ...about)
  const stopped = rowsOf(stoppedAgents, [...about[0], ...wakeups.firstDueOf])
  const keyed = rowsOf(
    sql.wakeupsByKey,
    keys.map(({ agent }) => agent),
    keys.map(({ key }) => key),
  )
  const replies = rowsOf(storedReplies, ask.replies)
  const sessions = rowsOf(sql.sessionsOfAgents, sessionsOf)
  const records = rowsOf(sql.readAgents, agents)
  rowsOf(sql.lockSpending, ...spending)
  const others = rowsOf(sql.usedByOthers, ...spending)
  const live = rowsOf(sql.liveRuns, liveRunsOf)
  const oneOf = (of: Statement, values: readonly unknown[]) => {
    const place = statements.push([of, values as unknown[]]) - 1
    return () => answers[place]!.rows
  }
  const usage = ask.usage && askForUsage(oneOf, workspaceId, ask.usage)
  const clockAt = statements.push([clock, []]) - 1
  answers = await send(client, statements)
  const now = answers[clockAt]!.rows[0]![0] as number
  const kept = terms === null ? [] : answers[terms]!.rows
  return {
    now,
    terms: new Set(kept.flatMap(([term, until]) => ((until as number) > now ? [term as number] : []))),
    agents: new Map(records().map((row) => [row[0] as string, readWithHealth(row)])),
    runtime: byId(runtimeRows, runtime()),
    runs: byId(runRows, locked()),
    wakeups: byId(wakeupRows, ofRuns()),
    about: aboutTasks(ask, waiting(), running(), recently()),
    firstDue: new Map(firstDue().map(readFirstDue)),
    keyed: keyedWakeups(keyed()),
    replies: new Map(replies().map(replyIn)),
    sessions: sessions().map(sessionIn),
    others: new Map(others().map(usedIn)),
    liveRuns: new Map(live().map(([agent, count]) => [agent as string, count as number])),
    stoppedAgents: new Set(stopped().map(([agent]) => agent as string)),
    usage: usage?.() ?? null,
  }
}

const replyIn = ([key, bodyHash, reply]: Rows[number]): [string, StoredReply] => [
  key as string,
  { bodyHash, reply } as StoredReply,
]
const sessionIn = ([agent, adapterType, taskKey]: Rows[number]) =>
  ({ agent, adapterType, taskKey }) as SessionKey
const usedIn = ([runId, tokens, costUsd]: Rows[number]): [string, UsedByRuns] => [
  runId as string,
  { tokens, costUsd } as UsedByRuns,
]

/** The first field is the key of a row in its workspace. */
const byId = <T>({ read }: PlainRows<T>, rows: Rows): Map<string, T> =>
  new Map(rows.map((row) => [row[0] as string, read(row)]))

const keyedWakeups = (rows: Rows): Map<string, WakeupRecord> =>
  new Map(
    rows.map((row) => {
      const wakeup = wakeupRows.read(row)
      return [keyedName(wakeup.agent, wakeup.idempotencyKey!), wakeup]
    }),
  )

function aboutTasks(ask: RunsAsk, waiting: Rows, running: Rows, recently: Rows): Map<string, AboutTask> {
  const found = new Map<string, AboutTask>(
    ask.wakeups.about.map(({ agent, taskId }) => [
      aboutName(agent, taskId),
      { waiting: null, running: null, recently: 0 },
    ]),
  )
  for (const row of waiting) {
    const wakeup = wakeupRows.read(row)
    found.get(aboutName(wakeup.agent, wakeup.taskId))!.waiting = wakeup
  }
  for (const [agent, taskId, ...row] of running)
    found.get(aboutName(agent as string, taskId as number))!.running = wakeupRows.read(row)
  for (const [agent, taskId, times] of recently)
    found.get(aboutName(agent as string, taskId as number))!.recently = times as number
  return found
}

function readFirstDue(row: readonly unknown[]): [agent: string, FirstDue] {
  const [
    live,
    hasTask,
    state,
    generation,
    dueAt,
    claimState,
    agent,
    session,
    isOffered,
    isWorkedOn,
    ...rest
  ] = row as [
    number,
    boolean,
    unknown,
    unknown,
    unknown,
    unknown,
    unknown,
    unknown,
    boolean,
    boolean,
    ...unknown[],
  ]
  const wakeup = wakeupRows.read(rest)
  const task = hasTask ? ({ state, generation, dueAt, claimState, agent, session } as FirstDue['task']) : null
  return [wakeup.agent, { wakeup, task, isOffered, isWorkedOn, live }]
}
