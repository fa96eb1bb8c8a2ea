import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { alone } from './lock.mjs'
import { inRoot } from './root.mjs'
import { runTool } from './run-tool.mjs'

const FOLDERS = ['src', 'bench', 'test/simulation', 'test/support', 'scripts']
const FILES = ['tsconfig.json', 'tsconfig.build.json', 'package-lock.json']
const stampFile = inRoot('dist', '.built')

/**
 * Compiles to dist/ unless that is already the present source: what programs need, or with another project more than that.
 * Returns whether it had to.
 */
export async function ensureBuilt(project = 'tsconfig.build.json') {
  return !isBuilt(fingerprint()) && (await alone(() => buildUnlessDone(project)))
}

async function buildUnlessDone(project) {
  // Taken before the compiler reads: a file that is saved meanwhile makes the next start build again.
  const stamp = fingerprint()
  if (isBuilt(stamp)) return false
  // Beside dist/, not in it: the source maps name the sources relative to themselves.
  const next = inRoot('dist.next')
  rmSync(next, { recursive: true, force: true })
  const code = await runTool('tsc', ['-p', project, '--outDir', next, '--sourceMap'], 'typescript')
  if (code !== 0) {
    console.error('The build failed (tsc, above).')
    process.exit(code)
  }
  for (const folder of FOLDERS) copyWhatIsNotCompiled(folder, next)
  replace(next)
  writeFileSync(stampFile, stamp)
  return true
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
  rmSync(stampFile, { force: true })
  const visible = (folder) => readdirSync(folder).filter((name) => !name.startsWith('.'))
  for (const name of visible(inRoot('dist'))) rmSync(inRoot('dist', name), { recursive: true })
  for (const name of visible(next)) renameSync(join(next, name), inRoot('dist', name))
  rmSync(next, { recursive: true })
}

function isBuilt(stamp) {
  return existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp
}

/** Names, sizes and times of all sources: quicker than their content, and as good on one machine. */
function fingerprint() {
  const hash = createHash('sha256')
  for (const path of [...FOLDERS.flatMap(filesBelow), ...FILES]) {
    const { size, mtimeMs } = statSync(inRoot(path))
    hash.update(`${path} ${size} ${mtimeMs}\n`)
  }
  return hash.digest('hex')
}

function filesBelow(folder) {
  if (!existsSync(inRoot(folder))) return []
  return readdirSync(inRoot(folder), { withFileTypes: true }).flatMap((entry) => {
    // What the bench compares with is installed below it on demand, and is no source of ours.
    if (entry.name === 'node_modules') return []
    const path = `${folder}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })
}
