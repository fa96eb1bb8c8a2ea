import { readFileSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const MEMORY = '/dev/shm'
const TMPFS = 0x01021994
const ENOUGH_BYTES = 4 * 1024 ** 3

/**
 * Where servers of tests keep their data: in memory where there is room, since the disk takes a tenth of the time of the
 * whole suite. They are killed, but the machine is not; so it makes no difference to what they have stored.
 */
export function dataFolder(): string {
  try {
    const { type, bavail, bsize } = statfsSync(MEMORY)
    return type === TMPFS && bavail * bsize >= ENOUGH_BYTES && mayExecute() ? MEMORY : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Containers often have it mounted so that nothing in it can be executed. */
function mayExecute(): boolean {
  const mounts = readFileSync('/proc/self/mounts', 'utf8').split('\n')
  const options = mounts.find((line) => line.split(' ')[1] === MEMORY)?.split(' ')[3] ?? 'noexec'
  return !options.split(',').includes('noexec')
}
