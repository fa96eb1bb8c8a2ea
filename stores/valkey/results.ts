import type { Changes } from '../../src/kernel/store/portable.ts'
import type { StoredResult } from '../../src/kernel/store/store.ts'
import type { ResultWritten } from '../../src/kinds/task/rules/result-changes.ts'

/** A result as it is stored: its data is a text that need not be parsed to change the rest. */
export type KeptResult = Omit<StoredResult, 'data'> & { data: string }

/** The data may be large: it comes after the rest, which is one line. */
export function writeResult(result: KeptResult): string {
  // By name: copying "the rest" of an object costs as much as writing it.
  const { generation, epoch, session, agent, accepted, rejection, ref, hash, summary, submittedAt } = result
  const head = { generation, epoch, session, agent, accepted, rejection, ref, hash, summary, submittedAt }
  return `${JSON.stringify(head)}\n${result.data}`
}

export function readResult(text: string): KeptResult {
  const end = text.indexOf('\n')
  return { ...JSON.parse(text.slice(0, end)), commit: null, processingMs: null, data: text.slice(end + 1) }
}

type ResultChange = Changes['results'][number]

/** The results of a task after these changes; those that changed are other objects than before. */
export function afterChanges(
  before: readonly KeptResult[],
  changes: readonly ResultChange[],
): readonly KeptResult[] {
  const results = [...before]
  const change = (place: number, set: Partial<KeptResult>) => {
    if (place !== -1) results[place] = { ...results[place]!, ...set }
  }
  for (const one of changes) {
    if (one.kind === 'written') add(results, one)
    else if (one.kind === 'judged') {
      const { accepted, rejection } = one
      const awaited = results.findIndex((result) => result.epoch === one.epoch && result.accepted === null)
      change(awaited, { accepted, rejection })
    } else {
      const { epoch, generation, session, hash } = one
      const replaced = results.findIndex((result) => result.epoch === epoch && result.accepted !== false)
      change(replaced, { accepted: false, rejection: 'REPLACED' })
      change(theSame(results, generation, session, hash), { epoch, accepted: true, rejection: null })
    }
  }
  return results
}

function add(results: KeptResult[], written: ResultWritten): void {
  // Parsed before anything is written: a result that is not JSON must fail the whole transaction.
  JSON.parse(written.data)
  const place = theSame(results, written.generation, written.session, written.hash)
  const known = results[place]
  // Rejected before, accepted now: the same result changes its verdict. Otherwise the first one stays.
  if (known && (known.accepted !== false || written.accepted === false)) return
  const { generation, epoch, session, agent, accepted, rejection, ref, hash, data, summary } = written
  const submittedAt = written.at
  // biome-ignore format: one line
  const result = { generation, epoch, session, agent, accepted, rejection, ref, hash, data, summary, commit: null, processingMs: null, submittedAt }
  if (known) results[place] = result
  else results.push(result)
}

const theSame = (results: readonly KeptResult[], generation: number, session: string, hash: string) =>
  results.findIndex(
    (result) => result.generation === generation && result.session === session && result.hash === hash,
  )
