import { randomInt } from 'node:crypto'
import type pg from 'pg'
import { uuidCarrying } from '../../core/ids.ts'
import { inWorkspace } from './workspace-transaction.ts'

export interface Agent {
  slug: string
  capabilities: string[]
}

const outsideId = () => uuidCarrying(randomInt(2 ** 47), Date.now(), randomInt(2 ** 22))

/** The agents of these slugs, registered as external ones where they are new; `actors` says by whom. */
export async function rememberAgents(
  pool: pg.Pool,
  workspaceId: number,
  actors: ReadonlyMap<string, string>,
): Promise<Agent[]> {
  const slugs = [...actors.keys()]
  return inWorkspace(pool, workspaceId, async (tx) => {
    const find = async () => {
      const text = 'select slug, capabilities from agents where workspace_id = $1 and slug = any($2::text[])'
      return (await tx.query(text, [workspaceId, slugs])).rows as Agent[]
    }
    const known = await find()
    const isKnown = new Set(known.map(({ slug }) => slug))
    const fresh = slugs.filter((slug) => !isKnown.has(slug)).sort()
    if (fresh.length === 0) return known
    const { rows } = await tx.query(
      `insert into agents (workspace_id, agent_id, slug, name)
       select $1, id, slug, slug from unnest($2::uuid[], $3::text[]) as n(id, slug) on conflict do nothing returning slug`,
      [workspaceId, fresh.map(outsideId), fresh],
    )
    for (const { slug } of rows) {
      const by = actors.get(slug)!
      tx.emit('agent_registered', by, { agent: slug, by })
    }
    return find()
  })
}
