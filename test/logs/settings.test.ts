import { expect, test } from 'vitest'
import { parseLogSettings } from '../../src/logs/settings.ts'
import { StartRefused } from '../../src/pure/refusal.ts'

test('logs are in files unless configured otherwise', () => {
  expect(parseLogSettings(undefined)).toEqual({ store: 'local_file' })
  expect(parseLogSettings('local_file')).toEqual({ store: 'local_file' })
  expect(parseLogSettings('postgres')).toEqual({ store: 'postgres' })
})

test('a URL names bucket, prefix, endpoint, region and style', () => {
  const plain = { store: 'object_store', prefix: '', endpoint: null, region: null, forcePathStyle: false }
  expect(parseLogSettings('s3://run-logs')).toEqual({ ...plain, bucket: 'run-logs' })
  expect(parseLogSettings('s3://run-logs/')).toEqual({ ...plain, bucket: 'run-logs' })
  expect(
    parseLogSettings(
      's3://my.logs/deep/folder/?endpoint=http://127.0.0.1:9000&region=eu-central-1&forcePathStyle=true',
    ),
  ).toEqual({
    store: 'object_store',
    bucket: 'my.logs',
    prefix: 'deep/folder/',
    endpoint: 'http://127.0.0.1:9000',
    region: 'eu-central-1',
    forcePathStyle: true,
  })
})

test.each([
  ['', 'must be local_file, postgres, or a URL'],
  ['disk', 'must be local_file, postgres, or a URL'],
  ['https://bucket', 'must be local_file, postgres, or a URL'],
  ['s3://', 'BATON_LOGS'],
  ['s3://B', 'has no valid bucket name'],
  ['s3://key:very-secret@bucket', 'must not contain keys'],
  ['s3://bucket?endpont=http://x', 'has an unknown parameter endpont'],
  ['s3://bucket?endpoint=127.0.0.1:9000', 'does not begin with http'],
  ['s3://bucket?forcePathStyle=yes', 'neither true nor false'],
  ['s3://bucket/%zz', 'an invalid % escape'],
])('%j is refused in one sentence', (value, sentence) => {
  const parse = () => parseLogSettings(value)
  expect(parse).toThrow(StartRefused)
  expect(parse).toThrow(sentence)
  expect(parse).not.toThrow('very-secret')
})
