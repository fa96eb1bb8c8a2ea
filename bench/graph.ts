import { type Caller, granted, Kernel } from '../src/kernel/kernel.ts'
import { createTasks } from '../src/kinds/task/acts/tasks.ts'
import type { TaskRecord } from '../src/kinds/task/record.ts'
import { TaskCreate } from '../src/kinds/task/shapes/tasks.ts'
import { idCarriedBy } from '../src/pure/ids.ts'
import { serverDirectory } from '../src/store/directory.ts'
import { openKernel } from '../src/upkeep/open-kernel.ts'
import { closedLoop, type Measured } from './drive.ts'
import { type Bed, makeBed } from './setup.ts'

/** The life of a task that waits for many: all of them end, one by one, by several callers at once. */
interface JoinFigure {
  upstream: number
  /** Dependencies read and written while they ended, for each of them. */
  steps: number
  /** CPU of this process for each end, in microseconds: claim, result and count. */
  nodeMicros: number
}

export interface GraphFigures {
  joins: JoinFigure[]
  waiting: number
  /** From the answer to a result until its dependent is queued, with so many others waiting. */
  readiness: Measured
}

const CALLERS = 16

export async function graphFigures(
  joins: readonly number[],
  waiting: number,
  say: (what: string) => void,
): Promise<GraphFigures> {
  const bed = await makeBed()
  const kernel = openKernel(bed.store, serverDirectory(bed.store))
  const caller: Caller = { workspaceId: bed.workspaceId, actor: 'system', rights: new Set(), waits: true }
  // It reacts to nothing.
  const quiet = new Kernel(bed.store, serverDirectory(bed.store), [])
  try {
    const figures: JoinFigure[] = []
    // The first one warms caches and plans up.
    for (const upstream of [100, ...joins]) {
      say(`o a join of ${upstream}`)
      figures.push(await joinOf(bed, kernel, caller, upstream))
    }
    say(`o readiness, ${waiting} waiting`)
    const readiness = await readinessAmong(kernel, quiet, caller, waiting)
    return { joins: figures.slice(1), waiting, readiness }
  } finally {
    await kernel.close()
    await quiet.close()
    await bed.close()
  }
}

type Task = Pick<TaskRecord, 'id' | 'uuid'>

async function make(
  kernel: Kernel,
  caller: Caller,
  count: number,
  dependsOn: string[] = [],
): Promise<Task[]> {
  const task = TaskCreate.parse({ title: 'bench', dependsOn })
  const views = await createTasks(kernel, caller, Array(count).fill(task))
  return views.map(({ id: uuid }) => ({ id: idCarriedBy(uuid)!, uuid }))
}

const submission = { data: '1', bytes: 1, hash: 'h', summary: null }

/** Claims a task and submits its result. */
async function complete(kernel: Kernel, caller: Caller, { id: taskId, uuid }: Task): Promise<TaskRecord> {
  const holder = { agent: 'bench', session: 'bench' }
  const claim = { kind: 'claim', ...holder, leaseMs: 600_000, capabilities: [] } as const
  granted(await kernel.run(caller, { on: 'task', taskId, uuid, command: claim }))
  const fence = { session: 'bench', generation: 1 }
  const submit = { kind: 'submit', fence, submission } as const
  return granted(await kernel.run(caller, { on: 'task', taskId, uuid, command: submit })).record
}

async function joinOf(bed: Bed, kernel: Kernel, caller: Caller, upstream: number): Promise<JoinFigure> {
  const tasks = await make(kernel, caller, upstream)
  const uuids = tasks.map(({ uuid }) => uuid)
  const [join] = await make(kernel, caller, 1, uuids)
  await bed.calm()
  const before = await touched(bed)
  const { nodeMicros } = await closedLoop(CALLERS, upstream, (i) => complete(kernel, caller, tasks[i]!))
  const steps = ((await touched(bed)) - before) / upstream
  const [record] = await kernel.store.recordsById(caller.workspaceId, [join!.id])
  if (record!.state !== 'queued') throw new Error(`the join is ${record!.state}`)
  return { upstream, steps, nodeMicros }
}

/** Rows of dependencies that were read by an index or written, since the database was made. */
async function touched({ admin, store }: Bed): Promise<number> {
  // Each connection reports what it did only now and then.
  for (const pool of [store.writers, store.readers]) {
    const clients = await Promise.all(Array.from({ length: pool.totalCount }, () => pool.connect()))
    for (const client of clients) await client.query('select pg_stat_force_next_flush()')
    for (const client of clients) client.release()
  }
  const { rows } = await admin.query<{ rows: number }>(
    `select (coalesce(idx_tup_fetch, 0) + n_tup_upd)::int as rows from pg_stat_user_tables where relname = 'task_dependencies'`,
  )
  return rows[0]!.rows
}

const SAMPLE = 500

async function readinessAmong(
  kernel: Kernel,
  quiet: Kernel,
  caller: Caller,
  waiting: number,
): Promise<Measured> {
  const [open] = await make(kernel, caller, 1)
  await make(kernel, caller, waiting, [open!.uuid])
  const upstream = await make(kernel, caller, SAMPLE)
  const dependents: Task[] = []
  for (const { uuid } of upstream) dependents.push(...(await make(kernel, caller, 1, [uuid])))
  const ended: TaskRecord[] = []
  for (const task of upstream) ended.push(await complete(quiet, caller, task))
  const figure = await closedLoop(1, SAMPLE, (i) => {
    const after = ended[i]!
    const before = { ...after, version: after.version - 1 }
    return kernel.follow(caller.workspaceId, [{ before, after }])
  })
  const records = await kernel.store.recordsById(
    caller.workspaceId,
    dependents.map(({ id }) => id),
  )
  if (records.some(({ state }) => state !== 'queued')) throw new Error('a dependent is not queued')
  return figure
}
