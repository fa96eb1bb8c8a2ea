import type { ServerKernel } from '../../../door/server-kernel.ts'
import type { Found } from '../../../door/server-store.ts'
import type { Caller } from '../../../kernel/kernel.ts'
import { parseTaskName } from '../../../kinds/task/rules/names.ts'
import { idCarriedBy, uuidsFrom } from '../../../pure/ids.ts'
import { instant } from '../../../pure/instant.ts'
import type { AnswerOf } from '../../../pure/shapes.ts'
import type { SearchAnswer } from '../shapes.ts'

/** Fewer letters are the beginning of every id. */
const SHORTEST_ID = 4

const KINDS = ['task', 'mission', 'agent', 'run'] as const

/** What is found is at most `limit`: no kind crowds out the others. */
export async function search(
  kernel: ServerKernel,
  { workspaceId }: Caller,
  asked: string,
  limit: number,
): Promise<AnswerOf<typeof SearchAnswer>> {
  const text = asked.trim()
  if (text === '') return { items: [], isBounded: false, seq: await kernel.store.lastSeq(workspaceId) }
  const range = text.length < SHORTEST_ID ? null : uuidsFrom(text)
  const id = idCarriedBy(text.toLowerCase())
  const name = parseTaskName(text)
  const number = name?.kind === 'number' ? name.number : null
  const asking = { text, id, number, range, limit }
  const { found, isBounded, seq } = await kernel.store.insight.search(workspaceId, asking)
  return { items: inTurn(withoutDoubles(found)).slice(0, limit).map(foundView), isBounded, seq }
}

function withoutDoubles(found: readonly Found[]): Found[] {
  const first = new Map<string, Found>()
  for (const one of found) {
    const name = `${one.kind} ${one.id}`
    if (one.isExact || !first.has(name)) first.set(name, one)
  }
  return [...first.values()]
}

/** What has exactly this name first; then one of each kind in turn. */
function inTurn(found: readonly Found[]): Found[] {
  const kinds = KINDS.map((kind) => found.filter((one) => one.kind === kind && !one.isExact))
  const rounds = Math.max(...kinds.map(({ length }) => length))
  const rest = Array.from({ length: rounds }, (_, round) => kinds.flatMap((ones) => ones[round] ?? []))
  return [...found.filter(({ isExact }) => isExact), ...rest.flat()]
}

const foundView = ({ kind, id, key, title, state, updatedAt }: Found) => ({
  kind,
  id,
  key,
  title,
  state,
  updatedAt: instant(updatedAt),
  path: `/${kind}s/${id}`,
})
