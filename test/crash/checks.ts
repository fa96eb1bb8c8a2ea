import pg from 'pg'
import { EVENTS } from '../../src/kinds/catalogue.ts'
import type { EventType, StoredEvent } from '../../src/kinds/events.ts'
import { workProductRef } from '../../src/kinds/task/rules/task-keys.ts'
import { readPayload } from '../../src/postgres/statements/event-payloads.ts'
import { TASK_TRANSITIONS, type TaskState, type TransitionName } from '../../src/pure/states.ts'
import { CLAIMS, RESULTS } from '../support/relations.ts'
import { replay } from '../support/replay.ts'
import { describeEvent } from './clients.ts'
import { grantsIn, Ledger, tasksIn, titlesIn } from './ledger.ts'

/** Invariants of every database at every moment, each with a query for its violations. */
const INVARIANTS: Record<string, string> = {
  'Event seq is gapless from 1, and the counter is at the last one (9).': `
    select c.workspace_id, c.last_seq, count(e.seq), min(e.seq), max(e.seq)
      from workspace_counters c left join events e using (workspace_id) group by 1, 2
    having count(e.seq) <> c.last_seq or coalesce(max(e.seq), 0) <> c.last_seq or coalesce(min(e.seq), 1) <> 1`,

  'Claims of a task are exactly 1..generation (1, 3).': `
    select t.uuid, t.generation, count(c.generation), max(c.generation)
      from tasks t left join ${CLAIMS} c on c.workspace_id = t.workspace_id and c.task_id = t.id
     group by t.uuid, t.generation having count(c.generation) <> t.generation or max(c.generation) <> t.generation`,

  'A task has at most one active claim, its newest one, exactly while it is held (2).': `
    select t.uuid, t.state, t.generation, array_agg(c.generation)
      from tasks t left join ${CLAIMS} c on c.workspace_id = t.workspace_id and c.task_id = t.id and c.state = 'active'
     group by t.uuid, t.state, t.generation
    having (t.state in ('assigned', 'running', 'continuing')) <> (count(c.generation) = 1)
        or count(c.generation) > 1 or max(c.generation) <> t.generation`,

  'The row of a task matches its newest claim.': `
    select t.uuid from tasks t join ${CLAIMS} c
        on c.workspace_id = t.workspace_id and c.task_id = t.id and c.generation = t.generation
     where (c.state, c.session, c.agent) is distinct from (t.claim_state, t.session, t.agent)`,

  'The counter of active claims is their number.': `
    select w.workspace_id, w.active_claims, count(c.task_id)
      from workspace_counters w left join ${CLAIMS} c on c.workspace_id = w.workspace_id and c.state = 'active'
     group by 1, 2 having w.active_claims <> count(c.task_id)`,

  'At most one result is accepted in each epoch, with the generation and session of its claim (4).': `
    select r.task_id, r.epoch, count(*) from ${RESULTS} r
      left join ${CLAIMS} c on c.workspace_id = r.workspace_id and c.task_id = r.task_id
       and c.generation = r.generation and c.session = r.session
     where r.accepted group by 1, 2 having count(*) > 1 or count(c.task_id) <> count(*)`,

  'A task is completed exactly when a result is accepted in its present epoch, and it names that one (5).': `
    select t.uuid, t.state, r.hash from tasks t left join ${RESULTS} r
        on r.workspace_id = t.workspace_id and r.task_id = t.id and r.epoch = t.epoch and r.accepted
     where (t.state = 'completed') <> (r.task_id is not null) or (r.task_id is not null and r.hash <> t.result_hash)`,

  'Every change of state leaves the state that the previous one led to, and the last one led to the present (7).': `
    select task_id, seq, type from (
      select e.*, lag(to_state) over task as came_from, lead(seq) over task as next_seq, t.state, t.generation as now
        from events e left join tasks t on t.workspace_id = e.workspace_id and t.id = e.task_id
       where e.task_id is not null and e.to_state is not null window task as (partition by e.workspace_id, e.task_id order by e.seq)) chain
     where from_state is distinct from came_from
        or (next_seq is null and (to_state, generation) is distinct from (state, now))`,

  'Every task was created by one event, and each claim and each ending of one has its event.': `
    select t.uuid, t.generation from tasks t
      left join events e on e.workspace_id = t.workspace_id and e.task_id = t.id
     group by t.workspace_id, t.id
    having count(*) filter (where e.type = 'task_created') <> 1
        or count(*) filter (where e.type = 'task_assigned') <> t.generation`,

  'The events of a task never go back in time.': `
    select task_id, seq from (
      select task_id, seq, at, lag(at) over (partition by workspace_id, task_id order by seq) as earlier
        from events where task_id is not null) e where at < earlier`,

  'A task that is not finished has a place in the queue, a due time, a lease or an unmet dependency (15).': `
    select uuid, state from tasks
     where not (state in ('completed', 'failed', 'cancelled', 'skipped') or rank is not null or due_at is not null
       or blocked or (claim_state = 'active' and lease_expires_at is not null))`,

  'No task has more attempts than it may (16).': `
    select uuid, attempt from tasks where attempt > max_retries + 1 or attempt > generation`,

  'Claims, results, details and events belong to a task of the same workspace (19).': `
    select 'claims', task_id from ${CLAIMS} c where not exists
      (select 1 from tasks t where t.workspace_id = c.workspace_id and t.id = c.task_id)
    union all select 'results', task_id from ${RESULTS} r where not exists
      (select 1 from ${CLAIMS} c where c.workspace_id = r.workspace_id and c.task_id = r.task_id and c.generation = r.generation)
    union all select 'events', task_id from events e where task_id is not null and not exists
      (select 1 from tasks t where t.workspace_id = e.workspace_id and t.id = e.task_id)
    union all select 'details', t.id from tasks t where not exists
      (select 1 from task_details d where d.workspace_id = t.workspace_id and d.task_id = t.id)`,

  'Every session and agent of a claim is stored, with one event each.': `
    with said as (
      select workspace_id, payload->>'session' as name, count(*) from events where type = 'session_started' group by 1, 2
      union all
      select workspace_id, payload->>'agent', count(*) from events where type = 'agent_registered' group by 1, 2),
    known as (select workspace_id, session as name from sessions union all select workspace_id, slug from agents),
    used as (select workspace_id, session as name from ${CLAIMS} c union select workspace_id, agent from ${CLAIMS} d)
    select name, said.count from known full join said using (workspace_id, name) full join used using (workspace_id, name)
     where known.name is null or said.count is distinct from 1`,
}

type Rows = Record<string, unknown>[]

/** Everything that is wrong in this database, given the answers clients got, if those are known. The list must be empty. */
export async function contradictions(url: string, ledger: Ledger | null): Promise<string[]> {
  const client = new pg.Client({ connectionString: url, application_name: 'crash test' })
  await client.connect()
  try {
    await client.query(`set search_path = baton`)
    const ask = async (sql: string, values: unknown[] = []) => (await client.query(sql, values)).rows as Rows
    const found: string[] = []
    for (const [says, sql] of Object.entries(INVARIANTS)) {
      const [row] = await ask(`${sql} limit 1`)
      if (row) found.push(`${says} But: ${JSON.stringify(row)}`)
    }
    const lost = ledger ? await lostWrites(ask, ledger) : []
    return [...found, ...lost, ...(await contradictingEvents(ask, ledger ?? new Ledger()))]
  } finally {
    await client.end()
  }
}

type Query = (sql: string, values?: unknown[]) => Promise<Rows>

async function lostWrites(ask: Query, ledger: Ledger): Promise<string[]> {
  return [
    ...(await creations(ask, ledger)),
    ...(await grants(ask, ledger)),
    ...(await acceptances(ask, ledger)),
    ...(await holderWrites(ask, ledger)),
  ]
}

/** Titles are unique to a request, so the number of tasks with a title is how often that request was executed. */
async function creations(ask: Query, ledger: Ledger): Promise<string[]> {
  const rows = await ask(
    `select d.title, t.uuid from tasks t join task_details d on d.workspace_id = t.workspace_id and d.task_id = t.id`,
  )
  const stored = new Map<string, string[]>()
  for (const { title, uuid } of rows as { title: string; uuid: string }[])
    stored.set(title, [...(stored.get(title) ?? []), uuid])
  const wrong: string[] = []
  for (const asked of ledger.all.filter(({ kind }) => kind === 'create')) {
    const made = titlesIn(asked).map((title) => stored.get(title) ?? [])
    const reported = asked.outcome === 'acknowledged' ? tasksIn(asked) : null
    const isRight = reported
      ? reported.every(({ id }, i) => made[i]!.length === 1 && made[i]![0] === id)
      : asked.outcome === 'refused'
        ? made.every((ids) => ids.length === 0)
        : made.every((ids) => ids.length === made[0]!.length && ids.length <= 1)
    if (!isRight) wrong.push(`a creation (${asked.outcome}) made ${JSON.stringify(made)}`)
  }
  return wrong
}

/** So are the sessions of claims. */
async function grants(ask: Query, ledger: Ledger): Promise<string[]> {
  const rows = await ask(
    `select c.session, t.uuid || ' ' || c.generation as grant
       from ${CLAIMS} c join tasks t on t.workspace_id = c.workspace_id and t.id = c.task_id`,
  )
  const stored = new Map<string, string[]>()
  for (const { session, grant } of rows as { session: string; grant: string }[])
    stored.set(session, [...(stored.get(session) ?? []), grant])
  const wrong: string[] = []
  for (const asked of ledger.all.filter(({ kind }) => kind === 'claim' || kind === 'next')) {
    const found = stored.get(asked.body.session as string) ?? []
    const granted = grantsOf(asked)
    const isRight = granted
      ? granted.length === found.length && granted.every((grant) => found.includes(grant))
      : found.length <= ((asked.body.limit as number | undefined) ?? 1)
    if (!isRight) wrong.push(`a ${asked.kind} (${asked.outcome}) was answered ${granted} and made ${found}`)
  }
  return wrong
}

/** The grants a claim must have left, or null when that is unknown. */
function grantsOf(asked: Parameters<typeof grantsIn>[0]): string[] | null {
  if (asked.outcome === 'unknown') return null
  if (asked.outcome === 'refused') return []
  return grantsIn(asked).map(({ taskId, generation }) => `${taskId} ${generation}`)
}

const refOf = ({ key, uuid, generation, hash }: Record<string, unknown>) =>
  workProductRef((key ?? uuid) as string, generation as number, hash as string)

async function acceptances(ask: Query, ledger: Ledger): Promise<string[]> {
  const rows = await ask(
    `select t.uuid, t.key, r.generation, r.session, r.hash, r.data::text as data
       from ${RESULTS} r join tasks t on t.workspace_id = r.workspace_id and t.id = r.task_id where r.accepted`,
  )
  const stored = new Map(rows.map((row) => [row.uuid as string, row]))
  const wrong: string[] = []
  for (const { hold, body, answer } of ledger.of('acknowledged', 'submit')) {
    const row = stored.get(hold!.taskId)
    const isRight =
      row?.generation === hold!.generation &&
      row.session === hold!.session &&
      refOf(row) === answer.workProductRef &&
      row.data === JSON.stringify(body.result)
    if (!isRight)
      wrong.push(`the accepted ${JSON.stringify(body.result)} is stored as ${JSON.stringify(row)}`)
  }
  return wrong
}

const LEAVES = { renew: 'claim_renewed', release: 'task_released', submit: 'task_completed' } as const

/** Each of these leaves one event: as many as were acknowledged, and at most one more for each unanswered request. */
async function holderWrites(ask: Query, ledger: Ledger): Promise<string[]> {
  const wrong: string[] = []
  for (const [kind, type] of Object.entries(LEAVES) as [keyof typeof LEAVES, string][]) {
    const rows = await ask(
      `select t.uuid || ' ' || e.generation as claim, count(*)::int
         from events e join tasks t on t.workspace_id = e.workspace_id and t.id = e.task_id where e.type = $1 group by 1`,
      [type],
    )
    const least = new Map<string, number>()
    const most = new Map<string, number>()
    const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1)
    for (const { hold, outcome, answer } of ledger.all.filter((asked) => asked.kind === kind)) {
      const name = `${hold!.taskId} ${hold!.generation}`
      // The same submission sent twice is one; the second gets the answer of the first.
      const isRepeat = kind === 'submit' && outcome === 'acknowledged' && least.has(name)
      if (outcome === 'acknowledged' && answer && !isRepeat) add(least, name)
      if (outcome !== 'refused' && !isRepeat) add(most, name)
    }
    const stored = new Map(rows.map(({ claim, count }) => [claim as string, count as number]))
    for (const name of new Set([...stored.keys(), ...most.keys()])) {
      const count = stored.get(name) ?? 0
      if (count < (least.get(name) ?? 0) || count > (most.get(name) ?? 0))
        wrong.push(
          `${type} of ${name}: ${count}, acknowledged ${least.get(name) ?? 0}, at most ${most.get(name) ?? 0}`,
        )
    }
  }
  const leases = ledger.of('acknowledged', 'renew')
  const shortened = await ask(
    `select t.uuid, t.lease_expires_at, u.told from unnest($1::uuid[], $2::int[], $3::timestamptz[]) u(uuid, generation, told)
       join tasks t using (uuid, generation) where t.claim_state = 'active' and t.lease_expires_at < u.told`,
    [
      leases.map(({ hold }) => hold!.taskId),
      leases.map(({ hold }) => hold!.generation),
      leases.map(({ answer }) => answer.leaseExpiresAt),
    ],
  )
  return [...wrong, ...shortened.map((row) => `a lease is shorter than acknowledged: ${JSON.stringify(row)}`)]
}

/** The log equals what readers saw of it, conforms to its catalogue, and replays to the state of every task. */
async function contradictingEvents(ask: Query, ledger: Ledger): Promise<string[]> {
  const rows = await ask(
    `select e.seq::int, e.type, e.task_id::int as "taskId", t.uuid, e.generation, e.from_state as "from",
            e.to_state as "to", e.actor, e.payload, t.key, t.state, t.generation as now
       from events e left join tasks t on t.workspace_id = e.workspace_id and t.id = e.task_id
      where e.workspace_id = 1 order by e.seq`,
  )
  const wrong: string[] = []
  const stories = new Map<number, { events: StoredEvent[]; state: unknown; now: unknown }>()
  for (const row of rows) {
    const stored = row as unknown as StoredEvent & { uuid: string; key: string | null }
    const event = { ...stored, payload: readPayload(stored, stored.payload, stored.key ?? stored.uuid) }
    const seen = ledger.readEvents.get(event.seq)
    if (seen !== undefined && seen !== describeEvent({ ...event, taskId: event.uuid }))
      wrong.push(`event ${event.seq} was read as "${seen}" and is now ${JSON.stringify(event)}`)
    if (!EVENTS[event.type as EventType].safeParse(event.payload).success || !isInTheTable(event))
      wrong.push(`event ${event.seq} is not in the catalogue: ${JSON.stringify(event)}`)
    if (event.taskId === null) continue
    const history = stories.get(event.taskId) ?? { events: [], state: row.state, now: row.now }
    history.events.push(event)
    stories.set(event.taskId, history)
  }
  const lastRead = Math.max(0, ...ledger.readEvents.keys())
  if (lastRead > rows.length) wrong.push(`event ${lastRead} was read, and the log ends at ${rows.length}`)
  for (const { events, state, now } of stories.values()) {
    const end = replay(events)
    if (end?.state !== state || end?.generation !== now)
      wrong.push(`replayed ${JSON.stringify(end)}, stored ${state} ${now}`)
  }
  return wrong
}

function isInTheTable({ type, from, to }: StoredEvent): boolean {
  if (to === null || type === 'task_created') return from === null
  const rule = TASK_TRANSITIONS[type as TransitionName]
  return rule?.to === to && (rule.from as readonly TaskState[]).includes(from as TaskState)
}
