import { readConfig } from './config.ts'
import { StartRefused } from './pure/refusal.ts'
import { start } from './start.ts'

/**
 * The entry point: prints one line when ready, and one with a link to sign in for a person who sees it or has never signed in; or
 * one sentence why not. On stderr a line about an external database.
 */
try {
  const starting = start(readConfig(process.env))
  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    // Ignore repeated signals: the stop is already in progress.
    if (stopping) return
    stopping = true
    // A refused start has already stopped its own parts.
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
  // Before anything starts: a signal during the start must not leave a database process running.
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
  process.on('SIGHUP', stop)
  if (process.env.npm_lifecycle_event !== undefined) stopWithParent(stop)
  const { url, database, demo, signInLink, hasBeenSignedInTo } = await starting
  if (database) console.error(database)
  // Not to a log file, except before anybody has signed in: a person who reads it within ten minutes could use it.
  const wantsLink = async () => process.stdout.isTTY || !(await hasBeenSignedInTo())
  // A database that does not answer in this moment makes no link; Baton is ready all the same.
  const link = await wantsLink().then(
    (isWanted) => (isWanted ? signInLink() : null),
    () => null,
  )
  if (!stopping) console.log([`baton ready on ${url}`, ...(link ? [`sign in: ${link}`] : [])].join('\n'))
  if (!stopping && process.argv.includes('--demo')) {
    await demo()
    console.log('the demonstration has begun; it waits for you in the inbox')
  }
} catch (error) {
  if (!(error instanceof StartRefused)) throw error
  console.error(error.message)
  process.exit(1)
}

/** npm does not forward signals. When npm exits, Baton stops too. */
function stopWithParent(stop: (signal: NodeJS.Signals) => void): void {
  const parent = process.ppid
  setInterval(() => {
    if (process.ppid !== parent) stop('SIGTERM')
  }, 1_000).unref()
}
