import { StartRefused } from '../pure/refusal.ts'

export interface S3Settings {
  bucket: string
  /** Prefix of all object names: empty, or ending with a slash. */
  prefix: string
  /** Null: Amazon's endpoint for the region. */
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

/** Parses BATON_LOGS. It holds no keys: the S3 client finds them on its own. */
export function parseLogSettings(value = 'local_file'): LogSettings {
  if (value === 'local_file' || value === 'postgres') return { store: value }
  if (!value.startsWith('s3://'))
    throw new StartRefused(`BATON_LOGS must be local_file, postgres, or a URL such as ${EXAMPLE}.`)
  if (!URL.canParse(value)) throw new StartRefused(`BATON_LOGS is not a URL such as ${EXAMPLE}.`)
  return { store: 'object_store', ...readAddress(new URL(value)) }
}

function readAddress(url: URL): S3Settings {
  if (url.username || url.password)
    throw new StartRefused(
      'BATON_LOGS must not contain keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile.',
    )
  const bucket = url.host
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket))
    throw new StartRefused(`BATON_LOGS has no valid bucket name: ${bucket || 'nothing'}.`)
  const unknown = [...url.searchParams.keys()].find((name) => !PARAMETERS.includes(name))
  if (unknown !== undefined)
    throw new StartRefused(
      `BATON_LOGS has an unknown parameter ${unknown}: known are ${PARAMETERS.join(', ')}.`,
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
    throw new StartRefused('BATON_LOGS has a prefix with an invalid % escape.')
  }
}
