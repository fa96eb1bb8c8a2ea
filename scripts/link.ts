import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readConfig } from '../src/config.ts'
import { StartRefused } from '../src/pure/refusal.ts'

/** Prints a one-time link that signs in to a running Baton: with BATON_API_KEY, or as the owner whose key is in the data folder. */

class NoLink extends Error {}

async function keyFrom(dataFolder: string): Promise<string> {
  const given = process.env.BATON_API_KEY
  if (given) return given
  const file = join(dataFolder, 'owner-key')
  return readFile(file, 'utf8').then(
    (text) => text.trim(),
    () => {
      throw new NoLink(`There is no key in ${file}; set BATON_DATA to Baton's data folder, or BATON_API_KEY.`)
    },
  )
}

async function link(): Promise<string> {
  const { host, port, dataFolder } = readConfig(process.env)
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host
  const url = process.env.BATON_URL?.replace(/\/+$/, '') || `http://${name}:${port}`
  const headers = { authorization: `Bearer ${await keyFrom(dataFolder)}` }
  const answer = await fetch(`${url}/api/v1/session/link`, { method: 'POST', headers }).catch(() => {
    throw new NoLink(`Baton does not answer at ${url}; start it with "npm start", or set BATON_URL.`)
  })
  const body = (await answer.json().catch(() => ({}))) as { url?: string; detail?: string }
  if (!body.url) throw new NoLink(body.detail ?? `There is no Baton at ${url}; set BATON_URL.`)
  return body.url
}

try {
  console.log(`sign in: ${await link()}`)
} catch (error) {
  if (!(error instanceof NoLink || error instanceof StartRefused)) throw error
  console.error(error.message)
  process.exitCode = 1
}
