import { readFileSync } from 'node:fs'

/**
 * Loaded into a server before everything else (`--import`): measures for how long its event loop is held, as CPU time of the thread
 * the loop runs in. Other threads, other processes and a busy machine do not count.
 */

const BEAT_MS = 5

/** Linux counts it for each thread in nanoseconds. Elsewhere the CPU time of all threads must do. */
const OWN_THREAD = `/proc/self/task/${process.pid}/schedstat`
const cpuMs = (): number => {
  try {
    return Number(readFileSync(OWN_THREAD, 'latin1').split(' ')[0]) / 1e6
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e3
  }
}

let before = cpuMs()
let longestMs = 0
const beat = () => {
  const now = cpuMs()
  longestMs = Math.max(longestMs, now - before)
  before = now
}
// Timers run once in each round of the loop: what was used since the last one was used in one round, or in a few short ones.
setInterval(beat, BEAT_MS).unref()

/** Answers with the longest since the last question. */
process.on('message', (message) => {
  if (message !== 'longest hold?') return
  beat()
  process.send!({ longestHoldMs: longestMs, rssBytes: process.memoryUsage.rss() })
  longestMs = 0
})
process.channel?.unref()
