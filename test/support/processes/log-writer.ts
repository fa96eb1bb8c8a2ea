import type { RunLogHandle } from '../../../src/logs/protocol.ts'
import { type LogPlace, openLogs } from '../log-places.ts'

/**
 * Writes to a log: numbered lines without end, printing each number when its line is acknowledged; so many megabytes,
 * printing how much memory it took to write, finish and read them; or first a line, then more than there is room for, then a
 * line.
 */
const [job, place, handle, megabytes] = process.argv.slice(2).map((word) => JSON.parse(word)) as [
  'lines' | 'megabytes' | 'overfull',
  LogPlace,
  RunLogHandle,
  number,
]
const { logs, close } = await openLogs(place)
const append = (chunk: string) =>
  logs.append(handle, [{ stream: 'stdout', chunk, ts: '2026-01-01T00:00:00.000Z' }])

if (job === 'lines')
  for (let i = 0; ; i++) {
    await append(`line ${i} äöü 🙂\n`)
    process.stdout.write(`${i}\n`)
  }

if (job === 'overfull') {
  await append('before\n')
  await append('ä'.repeat(megabytes * 512 * 1024))
  await append('after\n')
  await close()
  process.exit()
}

const line = Array.from({ length: 16_384 }, (_, i) => ((i * 2654435761) >>> 0).toString(36)).join(' ')
const chunk = line.slice(0, 65_535).concat('\n')
/** In the middle of the work, without garbage: when that is collected depends on how busy the machine is. */
let most = 0
const watch = () => {
  globalThis.gc!()
  const { heapUsed, external } = process.memoryUsage()
  most = Math.max(most, heapUsed + external)
}
watch()
const before = most
for (let i = 0; i < megabytes * 16; i++) {
  await append(chunk)
  if (i % 16 === 0) watch()
}
const summary = await logs.finalize(handle)
watch()
let characters = 0
let measuredAt = 0
for await (const piece of logs.stream(handle, 'stdout')) {
  characters += piece.length
  if (characters - measuredAt < 1024 * 1024) continue
  measuredAt = characters
  watch()
}
await close()
console.log(
  JSON.stringify({
    bytes: summary.bytes,
    characters,
    grown: most - before,
  }),
)
