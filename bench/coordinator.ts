import { keeper } from '../src/door/upkeep-step.ts'
import { BATCH } from '../src/kernel/upkeep-context.ts'
import { serverDirectory } from '../src/store/directory.ts'
import { openKernel } from '../src/upkeep/open-kernel.ts'
import { type CoordinatorContext, STEPS } from '../src/upkeep/pass.ts'
import { closedLoop, type Measured } from './drive.ts'
import { type Bed, makeBed } from './setup.ts'

const TASKS = 100_000
const AGENTS = 1_000
/** Single passes of the same build differ by more than a factor of three. */
const WARM_UP = 4
const ROUNDS = 7

/**
 * Passes of the coordinator over 100,000 tasks and 1,000 agents: with nothing due, with every agent lost, with many tasks to
 * assign.
 */
export async function coordinatorPasses(
  passes: number,
): Promise<{ idle: Measured; given: Measured; gone: Measured }> {
  const bed = await makeBed()
  const kernel = openKernel(bed.store, serverDirectory(bed.store))
  try {
    await standing(bed)
    await agents(bed)
    await bed.calm()
    const turn: CoordinatorContext = {
      kernel,
      kept: keeper(),
    }
    await pass(turn)
    const idle = await closedLoop(1, passes, () => pass(turn))
    const [given, gone]: [Measured[], Measured[]] = [[], []]
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      await comeBack(bed)
      await addWaitingTasks(bed)
      given.push(await closedLoop(1, 1, () => pass(turn)))
      await fallSilent(bed)
      gone.push(await closedLoop(1, 1, () => pass(turn)))
    }
    return { idle, given: typical(given), gone: typical(gone) }
  } finally {
    await kernel.close()
    await bed.close()
  }
}

/** The pass with the median of CPU, of those after the warm-up: a server is warm too. */
function typical(passes: readonly Measured[]): Measured {
  const sorted = passes.slice(WARM_UP).sort((a, b) => a.nodeMicros - b.nodeMicros)
  return sorted[(sorted.length - 1) >> 1]!
}

async function pass(turn: CoordinatorContext): Promise<void> {
  for (const { run } of STEPS) while ((await run(turn)) >= BATCH);
}

/**
 * Tasks that exist and are not due: waiting for a capability no agent has, for other tasks, for their scheduled time, and
 * finished.
 */
async function standing({ admin, workspaceId, fill }: Bed): Promise<void> {
  const { firstId } = await fill(TASKS)
  const part = TASKS / 4
  const to = (place: number, set: string) =>
    admin.query(`update tasks set ${set} where workspace_id = $1 and id >= $2 and id < $3`, [
      workspaceId,
      firstId + place * part,
      firstId + (place + 1) * part,
    ])
  await to(0, `capabilities = '{cobol}', lane = '0//["cobol"]'`)
  await to(1, `state = 'pending', rank = null, blocked = true`)
  await admin.query(
    `insert into task_dependencies (workspace_id, task_id, depends_on, trigger_rule)
     select $1, id, id - $3::int, 'all_success' from generate_series($2::bigint, $2::bigint + $3 - 1) id`,
    [workspaceId, firstId + part, part],
  )
  await to(2, `state = 'awaiting_retry', rank = null, due_at = now() + interval '1 hour'`)
  await to(3, `state = 'cancelled', rank = null, completed_at = now()`)
}

async function agents({ admin, workspaceId }: Bed): Promise<void> {
  await admin.query(
    `insert into agents (workspace_id, agent_id, slug, name, capabilities, max_concurrent_tasks, coordinator_enabled)
     select $1, gen_random_uuid(), 'agent-' || n, 'agent', '{typescript}', 1, true from generate_series(1, $2::int) n`,
    [workspaceId, AGENTS],
  )
  await admin.query(
    `insert into agent_health (workspace_id, slug, last_seen_at, has_heartbeat, status, due_at)
     select $1, slug, now() + interval '1 hour', true, 'healthy', now() + interval '1 hour' from agents where workspace_id = $1`,
    [workspaceId],
  )
}

async function addWaitingTasks({ admin, workspaceId, fill }: Bed): Promise<void> {
  const { firstId } = await fill(AGENTS)
  await admin.query(
    `update tasks set capabilities = '{typescript}', lane = '0//["typescript"]' where workspace_id = $1 and id >= $2`,
    [workspaceId, firstId],
  )
}

async function comeBack({ admin, workspaceId }: Bed): Promise<void> {
  await admin.query(`update agents set state = 'idle' where workspace_id = $1`, [workspaceId])
  await admin.query(
    `update agent_health set last_seen_at = now() + interval '1 hour', due_at = now() + interval '1 hour' where workspace_id = $1`,
    [workspaceId],
  )
}

async function fallSilent({ admin, workspaceId }: Bed): Promise<void> {
  await admin.query(
    `update agent_health set last_seen_at = now() - interval '1 hour', due_at = now() where workspace_id = $1`,
    [workspaceId],
  )
}
