import { gzipSync } from 'node:zlib'
import type { Caller } from '../../src/kernel/kernel.ts'
import { inColumns, missionGraph } from '../../src/kinds/mission/acts/graph.ts'
import { INBOX_KINDS } from '../../src/kinds/task/rules/waiting.ts'
import { readBoard } from '../../src/views/board/acts.ts'
import { BOARD_COLUMNS } from '../../src/views/board/columns.ts'
import { inboxPage } from '../../src/views/inbox/acts/read.ts'
import { layered, type MissionBed, makeMissionBed, newMission } from '../missions/bed.ts'
import { type Goal, worded } from '../report.ts'
import { type Taken, timedOn } from './timed.ts'

/** What pages for people take beside a million finished tasks. */
export interface PageFigures {
  done: number
  /** 1,000 cards in each of five columns, as an answer is made. */
  whole: Taken
  /** The first 50 of each. */
  first: Taken
  searched: Taken
  /** The first 50 of 1,000 items. */
  inbox: Taken
  /** 10,000 tasks with two edges each. */
  graph: Taken
  /** The same as columns, compressed as it is sent. */
  graphBytes: number
}

const CARDS = 1_000
const TASKS_OF_GRAPH = 10_000

export async function pageFigures(done: number, say: (what: string) => void): Promise<PageFigures> {
  const bed = await makeMissionBed()
  try {
    say(`s a board beside ${done} finished tasks`)
    await fillBoard(bed, done)
    const caller: Caller = { workspaceId: bed.workspaceId, actor: 'bench', rights: new Set() }
    const read = async (limit: number, text?: string) => {
      const page = { after: null, limit }
      const board = await readBoard(bed.kernel, caller, { text }, page)
      return JSON.stringify(board)
    }
    const took = (act: () => Promise<unknown>) => timedOn(bed.pid, act)
    const inbox = async () =>
      JSON.stringify(
        await inboxPage(
          bed.kernel,
          caller,
          { kinds: INBOX_KINDS, missionId: null, sort: 'oldest', after: null },
          50,
        ).then(({ list }) => list),
      )
    const board = {
      whole: await took(() => read(CARDS)),
      first: await took(() => read(50)),
      searched: await took(() => read(50, 'ask')),
      inbox: await took(inbox),
    }
    say(`s the graph of ${TASKS_OF_GRAPH} tasks`)
    const mission = await newMission(bed, layered(TASKS_OF_GRAPH), 'full_auto')
    await bed.calm()
    const graph = async () => JSON.stringify(inColumns(await missionGraph(bed.kernel, caller, mission)))
    return { done, ...board, graph: await took(graph), graphBytes: gzipSync(await graph()).length }
  } finally {
    await bed.close()
  }
}

/** Finished tasks, and 1,000 in each other column. */
async function fillBoard({ admin, workspaceId, fill, calm }: MissionBed, done: number): Promise<void> {
  const finished = await fill(done)
  const range = (from: number, count: number) => [workspaceId, from, from + count]
  const claimed = `claim_state = $4, session = 's', agent = 'a', acquired_at = now(), generation = 1, rank = null`
  await admin.query(
    `update tasks set state = 'completed', completed_at = now(), result_hash = 'x', ${claimed} where workspace_id = $1 and id >= $2 and id < $3`,
    [...range(finished.firstId, done), 'released'],
  )
  const { firstId } = await fill(CARDS * (BOARD_COLUMNS.length - 1))
  const held = `lease_ms = 60000, lease_expires_at = now() + interval '1 hour', check_at = now() + interval '1 hour', ${claimed}`
  for (const [place, state] of ['assigned', 'running'].entries())
    await admin.query(
      `update tasks set state = '${state}', ${held} where workspace_id = $1 and id >= $2 and id < $3`,
      [...range(firstId + place * CARDS, CARDS), 'active'],
    )
  await admin.query(
    `update tasks set state = 'awaiting_human', review = 'human', result_hash = 'x', ${claimed} where workspace_id = $1 and id >= $2 and id < $3`,
    [...range(firstId + 2 * CARDS, CARDS), 'released'],
  )
  await admin.query(
    `update task_details set waits_kind = 'review', waits_since = now() where workspace_id = $1 and task_id >= $2 and task_id < $3`,
    range(firstId + 2 * CARDS, CARDS),
  )
  await calm()
  await admin.query('vacuum (analyze) task_details, runs, task_dependencies')
}

export function pageVerdicts({ whole, first, searched, inbox, graph, graphBytes }: PageFigures): string {
  const goal = (what: string, { ms, cpuMs }: Taken, most: number): Goal => [
    `${what} < ${most} ms (${cpuMs.toFixed(1)} ms of CPU of the database)`,
    ms.median,
    ms.median < most,
  ]
  const goals: Goal[] = [
    goal('a board of 5,000 cards', whole, 150),
    goal('the first 250 cards', first, 150),
    goal('a board by a text', searched, 150),
    goal('the first 50 of 1,000 items of the inbox', inbox, 50),
    goal('the graph of 10,000 tasks', graph, 500),
    ['the same as columns, compressed, ≤ 400 KB, in KB', graphBytes / 1000, graphBytes <= 400_000],
  ]
  return worded(goals)
}
