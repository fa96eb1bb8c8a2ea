import { requireNode } from './launch/node-version.mjs'

requireNode()

async function run() {
  const [file, ...args] = process.argv.slice(2)
  if (!file?.endsWith('.ts')) {
    console.error(
      'Usage: node scripts/run.mjs FILE.ts [ARGUMENT …], with FILE.ts relative to the repository.',
    )
    process.exit(2)
  }
  const { launch } = await import('./launch/launch.mjs')
  await launch(file.replace(/\.ts$/, '.js'), args)
}

run()
