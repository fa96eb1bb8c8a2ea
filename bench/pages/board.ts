import { BOARD_COLUMNS } from '../../src/core/board.ts'
import { readBoard } from '../../src/flow/board/board.ts'
import type { Caller } from '../../src/kernel/kernel.ts'
import { type MissionBed, makeMissionBed } from '../missions/bed.ts'
import { type Goal, worded } from '../report.ts'
import type { Spread } from '../rounds.ts'
import { timed } from './timed.ts'

/** What pages for people take beside a million finished tasks. */
export interface PageFigures {
  done: number
  /** 1,000 cards in each of five columns, as an answer is made. */
  wholeMs: Spread
  /** The first 50 of each. */
  firstMs: Spread
  searchedMs: Spread
}

const CARDS = 1_000

export async function pageFigures(done: number, say: (what: string) => void): Promise<PageFigures> {
  const bed = await makeMissionBed()
  try {
    say(`s a board beside ${done} finished tasks`)
    await fillBoard(bed, done)
    const caller: Caller = { workspaceId: bed.workspaceId, actor: 'bench', rights: new Set() }
    const read = async (limit: number, text?: string) => {
      const page = { after: null, limit }
      const board = await readBoard(bed.kernel, caller, { text }, page, () => '')
      return JSON.stringify(board)
    }
    return {
      done,
      wholeMs: await timed(() => read(CARDS)),
      firstMs: await timed(() => read(50)),
      searchedMs: await timed(() => read(50, 'ask')),
    }
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
  await calm()
  await admin.query('vacuum (analyze) task_details, runs, task_dependencies')
}

export function pageVerdicts({ wholeMs, firstMs, searchedMs }: PageFigures): string {
  const goals: Goal[] = [
    ['a board of 5,000 cards < 150 ms', wholeMs.median, wholeMs.median < 150],
    ['the first 250 cards < 150 ms', firstMs.median, firstMs.median < 150],
    ['a board by a text < 150 ms', searchedMs.median, searchedMs.median < 150],
  ]
  return worded(goals)
}
