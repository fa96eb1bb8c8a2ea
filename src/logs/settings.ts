import { StartRefused } from '../core/refusal.ts'

export interface S3Settings {
  bucket: string
  /** Before the names of all objects: empty, or with a slash at its end. */
  prefix: string
  /** Null: Amazon's own, for the region. */
  endpoint: string | null
  region: string | null
  forcePathStyle: boolean
}

export type LogSettings =
  | { store: 'local_file' }
  | { store: 'postgres' }
  | ({ store: 'object_store' } & S3Settings)

const EXAMPLE = 's3://bucket/prefix?endpoint=https://host&region=eu-central-1&forcePathStyle=true'
const PARAMETERS = ['endpoint', 'region', 'forcePathStyle']

/** What BATON_LOGS says. Keys are not part of it: they come from where the S3 client looks for them by itself. */
export function parseLogSettings(value = 'local_file'): LogSettings {
  if (value === 'local_file' || value === 'postgres') return { store: value }
  if (!value.startsWith('s3://'))
    throw new StartRefused(`BATON_LOGS must be local_file, postgres, or an address such as ${EXAMPLE}.`)
  if (!URL.canParse(value)) throw new StartRefused(`BATON_LOGS is not an address such as ${EXAMPLE}.`)
  return { store: 'object_store', ...readAddress(new URL(value)) }
}

function readAddress(url: URL): S3Settings {
  if (url.username || url.password)
    throw new StartRefused(
      'BATON_LOGS must not carry keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile.',
    )
  const bucket = url.host
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new StartRefused(`BATON_LOGS names no bucket that could be one: ${bucket || 'nothing'}.`)
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined)
    throw new StartRefused(
      `BATON_LOGS has an unknown parameter ${unknown}: there are ${PARAMETERS.join(', ')}.`,
    )
  const endpoint = url.searchParams.get('endpoint')
  if (endpoint !== null && !/^https?:\/\/[^/]/.test(endpoint))
    throw new StartRefused('BATON_LOGS has an endpoint that does not begin with http:// or https://.')
  const forcePathStyle = url.searchParams.get('forcePathStyle') ?? 'false'
  if (forcePathStyle !== 'true' && forcePathStyle !== 'false')
    throw new StartRefused('BATON_LOGS has a forcePathStyle that is neither true nor false.')
  const prefix = pathOf(url).replace(/^\/+|\/+$/g, '')
  return {
    bucket,
    prefix: prefix === '' ? '' : `${prefix}/`,
    endpoint,
    region: url.searchParams.get('region'),
    forcePathStyle: forcePathStyle === 'true',
  }
}

function pathOf(url: URL): string {
  try {
    return decodeURIComponent(url.pathname)
  } catch {
    throw new StartRefused('BATON_LOGS has a prefix with a % that stands for nothing.')
  }
}
