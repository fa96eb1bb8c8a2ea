import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { uuidCarrying } from '../../core/ids.ts'
import { inWorkspace } from './workspace-transaction.ts'

export interface Agent {
  slug: string
  capabilities: string[]
}

const outsideId = () => uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))

/** The agent of this slug, registered as an external one when it is new. */
export async function rememberAgent(
  pool: pg.Pool,
  workspaceId: number,
  slug: string,
  actor: string,
): Promise<Agent> {
  return inWorkspace(pool, workspaceId, async (tx) => {
    const known = await tx.query(
      'select slug, capabilities from agents where workspace_id = $1 and slug = $2',
      [workspaceId, slug],
    )
    if (known.rows[0]) return known.rows[0]
    const { rowCount } = await tx.query(
      'insert into agents (workspace_id, agent_id, slug, name) values ($1, $2, $3, $3) on conflict do nothing',
      [workspaceId, outsideId(), slug],
    )
    if (rowCount === 1) tx.emit('agent_registered', actor, { agent: slug, by: actor })
    return { slug, capabilities: [] }
  })
}
