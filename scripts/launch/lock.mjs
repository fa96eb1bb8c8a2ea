import { randomUUID } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { inRoot } from './root.mjs'

const path = inRoot('dist', '.lock')

/**
 * Lets one process at a time install and build. A holder that was killed does not block: its pid and start time are
 * in the file. Should two find that out in the same moment, both work, which costs time but breaks nothing, since
 * either finishes by renaming.
 */
export async function alone(work) {
  mkdirSync(inRoot('dist'), { recursive: true })
  for (let rounds = 0; !take(); rounds++) {
    if (rounds === 10) console.error('Waiting for another process, which is installing or building.')
    await sleep(100)
  }
  const release = () => rmSync(path, { force: true })
  process.once('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

function take() {
  const draft = `${path}.${randomUUID()}`
  writeFileSync(draft, JSON.stringify({ pid: process.pid, start: startOf(process.pid) }))
  try {
    // Unlike opening it exclusively, a link appears with its content.
    linkSync(draft, path)
    return true
  } catch (error) {
    if (error.code !== 'EEXIST') throw error
    const other = holder()
    if (other && startOf(other.pid) !== other.start) rmSync(path, { force: true })
    return false
  } finally {
    rmSync(draft, { force: true })
  }
}

function holder() {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

// Pids are reused, so where /proc tells it the start time counts as well.
function startOf(pid) {
  if (process.platform === 'linux') {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      // A killed process stays a zombie until its parent looks.
      return fields[0] === 'Z' ? 'gone' : fields[19]
    } catch {
      return 'gone'
    }
  }
  try {
    process.kill(pid, 0)
    return 'alive'
  } catch (error) {
    return error.code === 'EPERM' ? 'alive' : 'gone'
  }
}
