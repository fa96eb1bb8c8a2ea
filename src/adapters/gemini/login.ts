import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { exists, keyCheck } from '../cli-probe.ts'
import type { ProbeCheck } from '../protocol.ts'

/**
 * Whether a run of the Gemini CLI would find a login. Without a terminal it asks for none: a run ends with exit code 41 unless
 * the environment or its settings name a way to log in, and a login that is stored but not chosen there does not count.
 */

type Env = Record<string, string>

const name = 'login'
const hint = 'Set GEMINI_API_KEY in env, or run gemini once by hand and log in.'
const missing = (detail: string): ProbeCheck => ({ name, ok: false, detail, hint })

export async function loginCheck(env: Env, folder: string): Promise<ProbeCheck> {
  // It reads variables from this file, too, and from files of its working folder.
  if (await exists(join(folder, '.env')))
    return { name, ok: true, detail: `It reads ${join(folder, '.env')} (not tested).`, isUnknown: true }
  const way = wayIn(env) ?? (await chosenIn(join(folder, 'settings.json')))
  if (way === null)
    return missing(
      'It is not logged in: neither its environment nor its settings choose a way to log in (exit code 41).',
    )
  return checkOf(way, env, folder)
}

/** As the program chooses: by these variables, in this order. */
function wayIn(env: Env): string | null {
  if (env.GOOGLE_GENAI_USE_GCA === 'true') return 'oauth-personal'
  if (env.GOOGLE_GENAI_USE_VERTEXAI === 'true') return 'vertex-ai'
  return env.GEMINI_API_KEY ? 'gemini-api-key' : null
}

/** Its settings may have comments, so they are not parsed as JSON. `selectedAuthType` is the older name. */
async function chosenIn(file: string): Promise<string | null> {
  const settings = await readFile(file, 'utf8').catch(() => '')
  return /"(?:selectedType|selectedAuthType)"\s*:\s*"([^"]+)"/.exec(settings)?.[1] ?? null
}

async function checkOf(way: string, env: Env, folder: string): Promise<ProbeCheck> {
  switch (way) {
    case 'gemini-api-key':
      return keyCheck(env, ['GEMINI_API_KEY']) ?? unknown('Its settings choose an API key, and env has none.')
    case 'oauth-personal': {
      const file = join(folder, 'oauth_creds.json')
      if (await exists(file)) return { name, ok: true, detail: `Logged in by ${file} (not tested).` }
      return missing(`It is not logged in: there is no ${file} (exit code 41).`)
    }
    case 'vertex-ai': {
      const isComplete = env.GOOGLE_API_KEY || (env.GOOGLE_CLOUD_PROJECT && env.GOOGLE_CLOUD_LOCATION)
      if (isComplete) return { name, ok: true, detail: 'It uses Vertex AI (not tested).' }
      return missing(
        'Vertex AI needs GOOGLE_API_KEY, or GOOGLE_CLOUD_PROJECT and GOOGLE_CLOUD_LOCATION (exit code 41).',
      )
    }
    default:
      return unknown(`Its settings choose "${way}".`)
  }
}

const unknown = (why: string): ProbeCheck => ({
  ...{ name, ok: true, isUnknown: true },
  detail: `It is unknown whether it is logged in. ${why}`,
})
