import { spawn } from 'node:child_process'
import { once } from 'node:events'

export interface Watcher {
  /** The process group that must not outlive us; undefined when none runs. */
  watch(group: number | undefined): void
  /** Nothing is left to watch: removes the folder. */
  finish(): Promise<void>
}

// Removes again, because a server that is just dying may still make files.
const SCRIPT = `
while read -r named; do group=$named; done
[ -z "$group" ] || kill -KILL "-$group"
for attempt in 1 2 3 4 5; do rm -rf -- "$1" && break; sleep 1; done
`

/**
 * Ends the server and removes its folder when this process has ended, for whatever reason.
 *
 * A shell waits for the end of a pipe whose other side we hold: the kernel closes it even after a SIGKILL, when no code of
 * ours runs any more. The kernel could also signal the server (setpriv --pdeathsig), but on Linux only, when the thread ends
 * that forked it instead of the process, and with the data left behind.
 */
export function startWatcher(folder: string): Watcher {
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', folder], {
    cwd: '/',
    // A group of its own: a signal to all of ours must not reach the one that cleans up after it.
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const exited = once(shell, 'exit')
  // It may be killed itself: then nothing is watched, and the tests continue.
  exited.catch(() => undefined)
  shell.stdin.on('error', () => undefined)
  return {
    watch: (group) => void shell.stdin.write(`${group ?? ''}\n`),
    async finish() {
      shell.stdin.end()
      await exited
    },
  }
}
