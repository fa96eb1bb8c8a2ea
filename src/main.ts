import { readConfig } from './config.ts'
import { StartRefused } from './core/refusal.ts'
import { start } from './start.ts'

/** The entry point: one line when serving, one sentence when not. */
try {
  const baton = await start(readConfig(process.env))
  console.log(`baton ready on ${baton.url}`)
  let stopping = false
  const stop = (signal: NodeJS.Signals) => {
    // A second signal is impatience, not a second wish; a third would come by kill -9.
    if (stopping) return
    stopping = true
    baton.stop().then(
      () => process.exit(0),
      (error) => {
        console.error(`Baton did not stop cleanly after ${signal}: ${error.message}`)
        process.exit(1)
      },
    )
  }
  process.on('SIGINT', stop)
  process.on('SIGTERM', stop)
} catch (error) {
  if (!(error instanceof StartRefused)) throw error
  console.error(error.message)
  process.exit(1)
}
