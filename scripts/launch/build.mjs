import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fingerprintOf } from './fingerprint.mjs'
import { alone } from './lock.mjs'
import { inRoot } from './root.mjs'
import { runNode, runTool } from './run-tool.mjs'

const FOLDERS = ['src', 'stores', 'bench', 'test/simulation', 'test/support', 'scripts']

/** What is built, from what, and where that is recorded. Neither is built again because the other changed. */
const SERVER = {
  stampFile: inRoot('dist', '.built'),
  fingerprint: () => fingerprintOf([...FOLDERS, 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']),
}
const APP = {
  stampFile: inRoot('dist', '.built-web'),
  fingerprint: () =>
    fingerprintOf([
      'web/index.html',
      'web/src',
      'web/vite.config.ts',
      'src/client',
      'src/pure',
      'src/kinds',
      'src/views',
      'src/transcript',
      'package.json',
      'package-lock.json',
    ]),
}
const APP_FOLDER = 'web'

/**
 * Compiles the server to dist/ unless that is already the present source: what programs need, or with another project more than
 * that. Returns whether it had to.
 */
export async function ensureBuilt(project = 'tsconfig.build.json') {
  return !isBuilt(SERVER) && (await alone(() => buildUnlessDone(SERVER, () => compile(project))))
}

/** Builds the web app to dist/web unless it is there already. Returns whether it had to. */
export async function ensureAppBuilt() {
  return !isBuilt(APP) && (await alone(() => buildUnlessDone(APP, buildApp)))
}

/** Server and app, side by side. Returns whether it had to compile the server. */
export async function ensureAllBuilt(project = 'tsconfig.build.json') {
  if (isBuilt(SERVER) && isBuilt(APP)) return false
  const [isCompiled] = await alone(() =>
    Promise.all([buildUnlessDone(SERVER, () => compile(project)), buildUnlessDone(APP, buildApp)]),
  )
  return isCompiled
}

async function buildUnlessDone(what, build) {
  // Taken before the compiler reads: a file that is saved meanwhile makes the next start build again.
  const stamp = what.fingerprint()
  if (isBuilt(what, stamp)) return false
  await build()
  writeFileSync(what.stampFile, stamp)
  return true
}

async function compile(project) {
  // Beside dist/, not in it: the source maps name the sources relative to themselves.
  const next = inRoot('dist.next')
  rmSync(next, { recursive: true, force: true })
  const code = await runTool('tsc', ['-p', project, '--outDir', next, '--sourceMap'], 'typescript')
  if (code !== 0) fail(code, 'The build failed (tsc, above).')
  for (const folder of FOLDERS) copyWhatIsNotCompiled(folder, next)
  await joinServer(next)
  replace(next)
}

/** In a process that ends, as every tool: the server that starts next in this one does not keep its memory. */
async function joinServer(next) {
  const code = await runNode([inRoot('scripts/launch/join-server.mjs'), next])
  if (code !== 0) fail(code, 'The server could not be joined into one file (rolldown, above).')
}

async function buildApp() {
  const next = inRoot('dist', '.web.next')
  // Always set: under NODE_ENV=test it would be React for development, which does everything twice.
  const env = { NODE_ENV: 'production' }
  const code = await runTool('vite', ['build', 'web', '--outDir', next, '--logLevel', 'error'], 'vite', env)
  if (code !== 0) fail(code, 'The web app could not be built (vite, above).')
  // A page that is open meanwhile asks for files of the old app; the new one is there in a moment, whole.
  rmSync(APP.stampFile, { force: true })
  rmSync(inRoot('dist', APP_FOLDER), { recursive: true, force: true })
  renameSync(next, inRoot('dist', APP_FOLDER))
}

function fail(code, sentence) {
  console.error(sentence)
  process.exit(code)
}

// SQL and the like are read at run time from next to the code.
function copyWhatIsNotCompiled(folder, next) {
  if (folder === 'scripts' || !existsSync(inRoot(folder))) return
  cpSync(inRoot(folder), join(next, folder), {
    recursive: true,
    filter: (path) => !/\.tsx?$|[/\\]node_modules$/.test(path),
  })
}

// Whole folders are replaced, so that a removed source leaves no compiled file behind.
function replace(next) {
  rmSync(SERVER.stampFile, { force: true })
  const visible = (folder) =>
    readdirSync(folder).filter((name) => !name.startsWith('.') && name !== APP_FOLDER)
  for (const name of visible(inRoot('dist'))) rmSync(inRoot('dist', name), { recursive: true })
  for (const name of visible(next)) renameSync(join(next, name), inRoot('dist', name))
  rmSync(next, { recursive: true })
}

function isBuilt({ stampFile, fingerprint }, stamp = fingerprint()) {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
}
