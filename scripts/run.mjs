import { requireNode } from './launch/node-version.mjs'

requireNode()

async function run() {
  const given = process.argv.slice(2)
  const withApp = given[0] === '--app'
  const [file, ...args] = withApp ? given.slice(1) : given
  if (!file?.endsWith('.ts')) {
    console.error(
      'Usage: node scripts/run.mjs [--app] FILE.ts [ARGUMENT …], with FILE.ts relative to the repository; --app builds the web app, too.',
    )
    process.exit(2)
  }
  const { launch } = await import('./launch/launch.mjs')
  await launch(file.replace(/\.ts$/, '.js'), args, { withApp })
}

run()
