import { requireNode } from './launch/node-version.mjs'

requireNode()

async function start() {
  const { launch } = await import('./launch/launch.mjs')
  await launch('server/main.js', process.argv.slice(2), { withApp: true })
}

start()
