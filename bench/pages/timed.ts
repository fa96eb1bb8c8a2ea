import { type Spread, spreadOf } from '../rounds.ts'
import { cpuMsOfProcessTree } from '../server-cpu.ts'

const TIMES = 15

/** How long an act takes, in milliseconds. */
async function timed(act: () => Promise<unknown>): Promise<Spread> {
  const took: number[] = []
  for (let time = 0; time <= TIMES; time++) {
    const began = performance.now()
    await act()
    // The first one warms caches up.
    if (time > 0) took.push(performance.now() - began)
  }
  return spreadOf(took)
}

/** The same, with the CPU of the server of this process id for one act: another program on the machine does not change it. */
export interface Taken {
  ms: Spread
  cpuMs: number
}

export async function timedOn(pid: number, act: () => Promise<unknown>): Promise<Taken> {
  await act()
  const before = cpuMsOfProcessTree(pid)
  const ms = await timed(act)
  return { ms, cpuMs: (cpuMsOfProcessTree(pid) - before) / (TIMES + 1) }
}
