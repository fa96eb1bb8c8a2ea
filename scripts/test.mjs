import { requireNode } from './launch/node-version.mjs'

requireNode()

async function test() {
  const { ensureInstalled } = await import('./launch/install.mjs')
  const { ensureBuilt } = await import('./launch/build.mjs')
  const { runChecks, runTests } = await import('./launch/checks.mjs')
  const args = process.argv.slice(2)
  await ensureInstalled()
  const failed = args.length === 0 ? await runChecks() : await ensureBuilt().then(() => 0)
  process.exitCode = failed || (await runTests(args))
}

test()
