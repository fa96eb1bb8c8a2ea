/** Ways to put load on something, and the figures that result. */

export interface Measured {
  perSecond: number
  p50Ms: number
  p99Ms: number
  count: number
  /** CPU of this process, in microseconds each. */
  nodeMicros: number
}

function percentile(sorted: Float64Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

/** Figures of latencies that were measured within so many seconds. */
export function measured(
  latencies: Float64Array | readonly number[],
  seconds: number,
  cpu: NodeJS.CpuUsage,
): Measured {
  const sorted = Float64Array.from(latencies).sort()
  return {
    count: latencies.length,
    perSecond: latencies.length / seconds,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    nodeMicros: (cpu.user + cpu.system) / latencies.length,
  }
}

/** A fixed number of callers, each sending the next request as soon as it is answered. */
export async function closedLoop(
  callers: number,
  count: number,
  ask: (index: number) => Promise<unknown>,
): Promise<Measured> {
  const latencies = new Float64Array(count)
  let next = 0
  const cpu = process.cpuUsage()
  const start = performance.now()
  await Promise.all(
    Array.from({ length: callers }, async () => {
      while (next < count) {
        const index = next++
        const asked = performance.now()
        await ask(index)
        latencies[index] = performance.now() - asked
      }
    }),
  )
  return measured(latencies, (performance.now() - start) / 1000, process.cpuUsage(cpu))
}

/**
 * Requests at a fixed rate, whether the earlier ones are answered or not. Latency counts from the moment a request
 * was due, so a system that falls behind cannot hide it.
 */
export async function openLoop(
  seconds: number,
  kinds: readonly { perSecond: number; ask: (index: number) => Promise<unknown> }[],
): Promise<Measured[]> {
  const latencies = kinds.map(({ perSecond }) => new Float64Array(perSecond * seconds))
  const sent = kinds.map(() => 0)
  const open = new Set<Promise<unknown>>()
  const cpu = process.cpuUsage()
  const start = performance.now()
  while (performance.now() - start < seconds * 1000) {
    const elapsed = performance.now() - start
    kinds.forEach(({ perSecond, ask }, kind) => {
      const due = Math.min(Math.floor((elapsed / 1000) * perSecond), latencies[kind]!.length)
      for (; sent[kind]! < due; sent[kind]!++) {
        const index = sent[kind]!
        const dueAt = start + (index / perSecond) * 1000
        const answered = ask(index).then(() => {
          latencies[kind]![index] = performance.now() - dueAt
          open.delete(answered)
        })
        open.add(answered)
      }
    })
    // A pause, not a spin: the driver must not take the processor from what it measures.
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(open)
  const used = process.cpuUsage(cpu)
  const took = (performance.now() - start) / 1000
  return latencies.map((list, kind) => measured(list.subarray(0, sent[kind]), took, used))
}

/** The same while something else runs, until it is done. */
export async function openLoopDuring<T>(
  act: () => Promise<T>,
  perSecond: number,
  ask: (index: number) => Promise<unknown>,
): Promise<{ tookMs: number; latencies: number[] }> {
  const latencies: number[] = []
  const open: Promise<unknown>[] = []
  let isDone = false
  const start = performance.now()
  const acting = act().finally(() => {
    isDone = true
  })
  const sendDue = () => {
    const due = Math.floor(((performance.now() - start) / 1000) * perSecond)
    while (open.length < due) {
      const index = open.length
      const dueAt = start + (index / perSecond) * 1000
      const answered = ask(index).then(() => {
        latencies[index] = performance.now() - dueAt
      })
      open.push(answered)
    }
  }
  while (!isDone) {
    sendDue()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await acting
  const tookMs = performance.now() - start
  sendDue()
  await Promise.all(open)
  return { tookMs, latencies }
}
