import { requireNode } from './launch/node-version.mjs'

requireNode()

async function build() {
  const { ensureInstalled } = await import('./launch/install.mjs')
  const { ensureAllBuilt, ensureBuilt } = await import('./launch/build.mjs')
  await ensureInstalled()
  // The development server builds the app itself.
  await (process.argv.includes('--server') ? ensureBuilt() : ensureAllBuilt())
}

build()
