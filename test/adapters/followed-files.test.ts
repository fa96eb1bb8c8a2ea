import { execFileSync } from 'node:child_process'
import { appendFile, mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { claudeFiles } from '../../src/adapters/claude/files.ts'
import { codexFiles } from '../../src/adapters/codex/files.ts'
import { Following } from '../../src/adapters/files/follow.ts'
import { geminiFiles } from '../../src/adapters/gemini/files.ts'

let folder: string
let file: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'baton-followed-'))
  file = join(folder, 'session.jsonl')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Follows files, and looks at them when it is told to. */
function follow(paths: () => readonly string[] = () => [file]) {
  const before: string[] = []
  const lines: string[] = []
  const due = new Map<number, { ms: number; act: () => void }>()
  let timers = 0
  let hasLooked = () => {}
  const following = new Following(
    {
      find: async () => paths(),
      before: (line) => before.push(line),
      take: (line) => lines.push(line),
      looked: () => hasLooked(),
    },
    {
      after(ms, act) {
        const id = ++timers
        due.set(id, { ms, act })
        return () => void due.delete(id)
      },
    },
  )
  /** The next look, to its end. */
  async function look(): Promise<void> {
    const looked = new Promise<void>((resolve) => {
      hasLooked = resolve
    })
    const [next] = [...due].sort(([, a], [, b]) => a.ms - b.ms)
    due.delete(next![0])
    next![1].act()
    await looked
    // The next look is due when this one is over.
    while (due.size === 0) await new Promise(setImmediate)
  }
  return { following, look, before, lines, due }
}

describe('a followed file', () => {
  test('that appears late is read from its beginning, line by line', async () => {
    const { following, look, lines } = follow()
    await following.begin(false)
    await look()
    await writeFile(file, 'one\ntw')
    await look()
    expect(lines).toEqual(['one'])
    await appendFile(file, 'o\nthree\n')
    await look()
    expect(lines).toEqual(['one', 'two', 'three'])
    await following.end()
  })

  test('is read to its end when the program has ended, and never after that', async () => {
    const { following, lines, due } = follow()
    await following.begin(false)
    await writeFile(file, 'one\ntwo\n')
    await following.end()
    expect(lines).toEqual(['one', 'two'])
    expect(due.size).toBe(0)
  })

  test('of a session that is resumed is read from where it ended before the run', async () => {
    await writeFile(file, 'old\nolder\n')
    const { following, look, before, lines } = follow()
    await following.begin(true)
    expect(before).toEqual(['old', 'older'])
    await appendFile(file, 'new\n')
    await look()
    expect(lines).toEqual(['new'])
    await following.end()
  })

  test('that was cut or replaced is read again', async () => {
    const { following, look, lines } = follow()
    await following.begin(false)
    await writeFile(file, 'one\ntwo\n')
    await look()
    await truncate(file, 0)
    await appendFile(file, 'a\n')
    await look()
    await writeFile(join(folder, 'other'), 'b\nand a longer one than before\n')
    await rename(join(folder, 'other'), file)
    await look()
    expect(lines).toEqual(['one', 'two', 'a', 'b', 'and a longer one than before'])
    await following.end()
  })

  test('that was too large to be known when it was cut is not taken for new', async () => {
    await writeFile(file, `${'x'.repeat(1000)}\n`.repeat(17 * 1024))
    const { following, look, before, lines } = follow()
    await following.begin(true)
    expect(before.length).toBeGreaterThan(16_000)
    expect(before.length).toBeLessThan(17 * 1024)
    expect(before.every((line) => line.length === 1000)).toBe(true)
    await writeFile(file, 'old\n')
    await look()
    await appendFile(file, 'new\n')
    await look()
    expect(lines).toEqual(['new'])
    await following.end()
  })

  test('with a line of any length is read on behind it', async () => {
    const { following, look, lines } = follow()
    await following.begin(false)
    await writeFile(file, `one\n${'x'.repeat(3 * 1024 * 1024)}\ntwo\n`)
    await look()
    expect(lines).toEqual(['one', 'two'])
    await following.end()
  })

  test('is read a piece at a time while the program runs, however much is written', async () => {
    const { following, look, lines } = follow()
    await following.begin(false)
    await writeFile(file, `${'x'.repeat(1023)}\n`.repeat(9 * 1024))
    await look()
    expect(lines).toHaveLength(4 * 1024)
    await look()
    await look()
    expect(lines).toHaveLength(9 * 1024)
    await following.end()
  })

  test('with characters of several bytes is read whole, wherever a piece ends', async () => {
    const { following, lines } = follow()
    await following.begin(false)
    const words = 'ü🦀'.repeat(40_000)
    await writeFile(file, `a${words}\n`)
    await following.end()
    expect(lines).toEqual([`a${words}`])
  })

  test.each([
    [
      'a link',
      async () => writeFile(join(folder, 'else'), 'x\n').then(() => symlink(join(folder, 'else'), file)),
    ],
    ['a link to a device without end', () => symlink('/dev/zero', file)],
    ['a pipe that nobody writes to', async () => void execFileSync('/usr/bin/env', ['mkfifo', file])],
    ['a folder', () => mkdir(file)],
  ])('that is %s is not read, and keeps nothing from its end', async (_, make) => {
    await make()
    for (const isResumed of [false, true]) {
      const { following, look, before, lines } = follow()
      await following.begin(isResumed)
      await look()
      await following.end()
      expect([...before, ...lines]).toEqual([])
    }
  })

  test('that could not be read when its session was resumed is not read later', async () => {
    await writeFile(join(folder, 'else'), 'old\n')
    await symlink(join(folder, 'else'), file)
    const { following, look, lines } = follow()
    await following.begin(true)
    await rm(file)
    await rename(join(folder, 'else'), file)
    await look()
    await following.end()
    expect(lines).toEqual([])
  })

  test('is one of a hundred at most', async () => {
    const paths = Array.from({ length: 150 }, (_, i) => join(folder, String(i)))
    await Promise.all(paths.map((path) => writeFile(path, `${path}\n`)))
    const { following, lines } = follow(() => paths)
    await following.begin(false)
    await following.end()
    expect(lines).toEqual(paths.slice(0, 100))
  })
})

test('a file system that does not answer keeps a run neither from its begin nor from its end', async () => {
  const timers: (() => void)[] = []
  const following = new Following(
    { find: () => new Promise(() => {}), before: () => {}, take: () => {}, looked: () => {} },
    {
      after(_, act) {
        timers.push(act)
        return () => {}
      },
    },
  )
  const begun = following.begin(true)
  timers.shift()!()
  await begun
  const ended = following.end()
  for (const act of timers) act()
  await ended
})

describe('the files of a session', () => {
  const id = '0a1b2c3d-0000-4000-8000-000000000000'
  const traces = { sessionId: id, agents: [] as string[] }
  const write = async (...path: string[]) => {
    const whole = join(folder, ...path)
    await mkdir(join(whole, '..'), { recursive: true })
    await writeFile(whole, '')
    return whole
  }

  test('of claude are found by its folder, and those of its subagents beside it', async () => {
    const find = claudeFiles({ home: folder, cwd: '/srv/some.one/my_project' })
    expect(await find(traces)).toEqual([])
    const main = await write('projects/-srv-some-one-my-project', `${id}.jsonl`)
    expect(await find(traces)).toEqual([main])
    const agents = ['a1', '../../../a2', 'a/3']
    const ofAgent = join(folder, 'projects/-srv-some-one-my-project', id, 'subagents/agent-a1.jsonl')
    expect(await find({ ...traces, agents })).toEqual([main, ofAgent])
    expect(await find({ ...traces, agents, isToldElsewhere: true })).toEqual([ofAgent])
    expect(await find({ ...traces, isToldElsewhere: true })).toEqual([])
  })

  test('of claude are found in a folder of another name, too', async () => {
    const main = await write('projects/-a-long-path-that-was-cut-1f3a', `${id}.jsonl`)
    expect(await claudeFiles({ home: folder, cwd: '/elsewhere' })(traces)).toEqual([main])
  })

  test('of codex is found by its thread, on whatever day that began', async () => {
    const old = await write('sessions/2024/02/29', `rollout-2024-02-29T10-00-00-${id}.jsonl`)
    for (const day of ['2026/11/17', '2026/11/18', '2026/11/19', '2026/11/20'])
      await write('sessions', day, `rollout-2026-11-17T10-00-00-another.jsonl`)
    expect(await codexFiles({ home: folder, cwd: '/' })(traces)).toEqual([old])
  })

  test('of gemini are all that have the beginning of its id', async () => {
    const find = geminiFiles({ home: folder, cwd: '/srv/project' })
    expect(await find(traces)).toEqual([])
    const first = await write('tmp/project/chats', 'session-2026-11-17T20-31-0a1b2c3d.jsonl')
    await write('tmp/project/chats', 'session-2026-11-17T20-31-ffffffff.jsonl')
    expect(await find(traces)).toEqual([first])
    const elsewhere = await write('tmp/project-1/chats', 'session-2026-11-17T20-33-0a1b2c3d.jsonl')
    expect(await geminiFiles({ home: folder, cwd: '/srv/project' })(traces)).toEqual([first, elsewhere])
  })

  test.each(['../../etc/passwd', 'a/b', '.', '', 'x'.repeat(200), null])(
    'are none for the id %j',
    async (sessionId) => {
      for (const files of [claudeFiles, codexFiles, geminiFiles])
        expect(await files({ home: folder, cwd: folder })({ sessionId, agents: [] })).toEqual([])
    },
  )
})
