import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { inRoot } from './root.mjs'

/** Runs a command-line tool from node_modules, and returns its exit code. It is never asked anything. */
export function runTool(name, args, packageName = name, env = {}) {
  const { bin } = JSON.parse(readFileSync(inRoot('node_modules', packageName, 'package.json'), 'utf8'))
  const script = inRoot('node_modules', packageName, typeof bin === 'string' ? bin : bin[name])
  return runNode([script, ...args], env)
}

/** Runs a script with this Node, and returns its exit code. */
export function runNode(args, env = {}) {
  const options = { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...env } }
  return exitCode(process.execPath, args, options)
}

/** Runs a command and keeps what it says, for when it fails. */
export async function runQuietly(command, args) {
  let output = ''
  const keep = (chunk) => {
    output += chunk
  }
  const code = await exitCode(command, args, { stdio: ['ignore', 'pipe', 'pipe'] }, (child) => {
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
  })
  return { code, output }
}

function exitCode(command, args, options, watch = () => {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, cwd: inRoot() })
    watch(child)
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
}
