import { Command } from 'ioredis'
import { expect, test } from 'vitest'
import { LongCommand } from '../../stores/valkey/long-command.ts'

const written = (Kind: typeof Command, args: readonly string[]) =>
  new Kind('evalsha', [...args]).toWritable({}).toString()

test.each([
  ['no arguments', []],
  ['ASCII', ['abc', '4', 'baton:{1}:task:17', '[1,"a",null]']],
  ['empty texts', ['', 'a', '']],
  ['texts whose bytes are more than their characters', ['é', '日本', '😀', 'plain']],
  ['line breaks', ['a\r\nb', '$5\r\nhello\r\n']],
  ['a long text', ['x'.repeat(10_000), 'é'.repeat(5_000)]],
  ['thousands of texts', Array.from({ length: 20_000 }, (_, n) => `text ${n}`)],
])('a long command is written as the driver writes it: %s', (_what, args) => {
  expect(written(LongCommand, args)).toBe(written(Command, args))
})
