import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { alone } from './lock.mjs'
import { inRoot } from './root.mjs'
import { runQuietly } from './run-tool.mjs'

const stampFile = inRoot('node_modules', '.baton-installed')

/** Installs the dependencies unless node_modules is what package-lock.json asks for. */
export async function ensureInstalled() {
  if (!isInstalled()) await alone(installUnlessDone)
}

async function installUnlessDone() {
  // Another process may have done it while we waited.
  if (isInstalled()) return
  console.error('Installing dependencies …')
  rmSync(stampFile, { force: true })
  const { code, output } = await installWhole()
  if (code !== 0) {
    console.error(output.trimEnd().split('\n').slice(-30).join('\n'))
    console.error('The dependencies could not be installed (npm, above).')
    process.exit(1)
  }
  writeFileSync(stampFile, wantedStamp())
}

async function installWhole() {
  // The build needs the development packages, whatever NODE_ENV says; the database comes as an optional one.
  // Under "npm start --silent" npm would otherwise not say why it fails.
  const flags = ['--include=dev', '--include=optional', '--no-audit', '--no-fund', '--loglevel=error']
  const clean = await npm(['ci', ...flags])
  if (clean.code === 0 || !clean.output.includes('are in sync')) return clean
  // A lock file made on one platform may lack the optional packages of others, which "npm ci" refuses. This keeps to
  // the lock for all that it names, and changes neither file.
  rmSync(inRoot('node_modules'), { recursive: true, force: true })
  return npm(['install', '--no-save', ...flags])
}

function npm(args) {
  const cli = process.env.npm_execpath
  if (cli?.endsWith('npm-cli.js')) return runQuietly(process.execPath, [cli, ...args])
  return runQuietly('npm', args).catch(() => ({ code: 1, output: 'npm was not found.' }))
}

function isInstalled() {
  if (textOf(stampFile) === wantedStamp()) return true
  if (!npmInstalledAll()) return false
  writeFileSync(stampFile, wantedStamp())
  return true
}

function wantedStamp() {
  const lock = createHash('sha256')
    .update(readFileSync(inRoot('package-lock.json')))
    .digest('hex')
  return `${lock} ${process.platform}-${process.arch}\n`
}

// npm's own record of what is in node_modules, written at the end of an install: it spares a second install to those
// who ran npm themselves.
function npmInstalledAll() {
  const record = textOf(inRoot('node_modules', '.package-lock.json'))
  if (!record) return false
  const { packages: present } = JSON.parse(record)
  const { packages: wanted } = JSON.parse(textOf(inRoot('package-lock.json')))
  return Object.entries(wanted).every(([path, { version, integrity, optional, os, cpu, libc }]) => {
    if (path === '') return true
    // An optional package must be here if it is made for this platform; the others may have been left out.
    const isForUs = os?.includes(process.platform) && cpu?.includes(process.arch) && !libc
    if (optional && !isForUs && !present[path]) return true
    return present[path]?.version === version && present[path]?.integrity === integrity
  })
}

function textOf(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
