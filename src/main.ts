import { readConfig } from './config.ts'
import { StartRefused } from './core/refusal.ts'
import { start } from './start.ts'

/** The entry point: one line when serving, one sentence when not; on stderr a line about a database that is not ours. */
try {
  const starting = start(readConfig(process.env))
  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    // A second signal is impatience, not a second wish; a third would come by kill -9.
    if (stopping) return
    stopping = true
    // Refused starts stop what they had started themselves.
    starting
      .then(
        (baton) => baton.stop(),
        () => undefined,
      )
      .then(
        () => process.exit(0),
        (error) => {
          console.error(`Baton did not stop cleanly after ${signal}: ${error.message}`)
          process.exit(1)
        },
      )
  }
  // Before anything is started: a signal during the start must not leave a database behind.
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', stop)
  if (process.env.npm_lifecycle_event !== undefined) stopWithParent(stop)
  const { url, database } = await starting
  if (database) console.error(database)
  if (!stopping) console.log(`baton ready on ${url}`)
} catch (error) {
  if (!(error instanceof StartRefused)) throw error
  console.error(error.message)
  process.exit(1)
}

/** npm does not pass on the signals it gets. When it is gone, whoever ended it meant us. */
function stopWithParent(stop: (signal: NodeJS.Signals) => void): void {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop('SIGTERM')
  }, 500).unref()
}
