import { existsSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { ensureAllBuilt, ensureBuilt } from './build.mjs'
import { ensureInstalled } from './install.mjs'
import { inRoot } from './root.mjs'

/** Runs a compiled file in this very process, so that signals and exit codes are its own. `withApp`: it serves the web app. */
export async function launch(file, args, { withApp = false } = {}) {
  await ensureInstalled()
  await (withApp ? ensureAllBuilt() : ensureBuilt())
  const script = inRoot('dist', file)
  if (!existsSync(script)) {
    console.error(`There is no ${file.replace(/\.js$/, '.ts')} to run.`)
    process.exit(1)
  }
  process.argv = [process.argv[0], script, ...args]
  await import(pathToFileURL(script).href)
}
