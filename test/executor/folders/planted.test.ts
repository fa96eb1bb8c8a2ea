import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { cleanFolder } from '../../../src/executor/folders/clean.ts'
import { type Git, gitWith } from '../../../src/executor/folders/git.ts'
import { prepareFolder } from '../../../src/executor/folders/prepare.ts'
import { recordWork } from '../../../src/executor/folders/record.ts'
import { saveWork } from '../../../src/executor/folders/save-work.ts'
import { sweepWorktrees } from '../../../src/executor/folders/sweep.ts'
import { KnownSecrets } from '../../../src/pure/secrets/redaction.ts'
import { commit, git, isGitHere, makeRepository, put } from '../../support/git.ts'
import { until } from '../../support/nodes.ts'

/**
 * Agents can write to the repositories they work in. Whatever program they plant in the settings there, Baton's own git does
 * not run it. Each is shown to be live first: plain git runs it.
 */

const describeGit = isGitHere ? describe : describe.skip

let home: string
let repository: string
let ours: Git

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-planted-')))
  repository = makeRepository(join(home, 'repo'), {
    'a.txt': 'one\n',
    '.gitattributes': '*.txt filter=evil\n',
  })
  ours = gitWith({ PATH: process.env.PATH, HOME: home })
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const hasRun = () => existsSync(join(home, 'ran'))
/** A program that leaves a mark and passes its input on. */
function payload(path = join(home, 'payload'), then = 'cat'): string {
  writeFileSync(path, `#!/bin/sh\ntouch ${join(home, 'ran')}\n${then}\n`)
  chmodSync(path, 0o755)
  return path
}
/** As plain git does it, successful or not. */
function plainly(folder: string, ...args: string[]): void {
  try {
    git(folder, ...args)
  } catch {
    // The payload may have broken it.
  }
}
const checkOutAnew = () => {
  rmSync(join(repository, 'a.txt'))
  plainly(repository, 'checkout', '--', 'a.txt')
}
/** Of the same size: so git has to read it. */
const statusOfChange = (folder = repository) => {
  put(folder, 'a.txt', 'two\n')
  plainly(folder, 'status')
  put(folder, 'a.txt', 'one\n')
}
/** A worktree as Baton makes them, made and removed by plain git. */
const addWorktree = () => {
  plainly(repository, 'worktree', 'add', '-b', 'baton/x/gen-1', join(home, 'plain'))
  plainly(repository, 'worktree', 'remove', '--force', join(home, 'plain'))
}
const filterIn = (file: string, kind: string, name = 'evil') =>
  appendFileSync(file, `[filter "${name}"]\n\t${kind} = ${payload()}\n`)
const config = () => join(repository, '.git/config')

const inWorktree = () =>
  prepareFolder(ours, {
    ...{ workspace: 'git_worktree', cwd: repository, dataFolder: join(home, '.baton'), allowedRoots: [] },
    ...{
      workspaceId: '1',
      agentSlug: 'dev',
      taskUuid: '0198c0de-0000-7000-8000-00000000000a',
      generation: 1,
    },
  })

/** All that Baton does with a worktree; `plant` runs when the agent has worked in it. */
async function makeRecordAndClean(plant: (root: string) => void = () => undefined) {
  const folder = await inWorktree()
  plant(folder.path)
  put(folder.path, 'a.txt', 'two\n')
  await cleanFolder(ours, folder, 'when_clean')
  await sweepWorktrees(ours, join(home, '.baton'), async () => false)
  const worktree = folder.worktree!
  const saved = await saveWork(ours, worktree, {
    ...{ author: { name: 'dev', email: 'dev@localhost' }, message: 'work', resultCommit: null },
    secrets: new KnownSecrets([]),
  })
  await recordWork(ours, worktree, worktree.baseCommit, saved)
  // A file whose filter does not run is left out, and would keep the folder.
  if (saved.leftOutCount > 0) put(folder.path, 'a.txt', 'one\n')
  const cleaned = await cleanFolder(ours, folder, 'when_clean')
  return { folder, saved, cleaned }
}

describeGit('what is planted in a repository', () => {
  const vectors: [what: string, plant: () => void, trigger: () => void][] = [
    [
      'a hook',
      () => void payload(join(repository, '.git/hooks/post-checkout')),
      () => plainly(repository, 'checkout', '--quiet', 'main'),
    ],
    [
      'a hook in a folder of its own',
      () => {
        mkdirSync(join(home, 'hooks'))
        payload(join(home, 'hooks/reference-transaction'))
        git(repository, 'config', 'core.hooksPath', join(home, 'hooks'))
      },
      () => plainly(repository, 'update-ref', 'refs/heads/other', 'HEAD'),
    ],
    [
      'a file system monitor',
      () => void git(repository, 'config', 'core.fsmonitor', payload()),
      statusOfChange,
    ],
    ['a smudge filter', () => filterIn(config(), 'smudge'), checkOutAnew],
    ['a clean filter', () => filterIn(config(), 'clean'), statusOfChange],
    ['a filter process', () => filterIn(config(), 'process'), statusOfChange],
    [
      'a filter that is required',
      () => {
        filterIn(config(), 'smudge')
        appendFileSync(config(), '\trequired = true\n')
      },
      checkOutAnew,
    ],
    [
      'a filter with any name',
      () => {
        filterIn(config(), 'clean', 'a=b.c')
        writeFileSync(join(repository, '.git/info/attributes'), '*.txt filter=a=b.c\n')
      },
      statusOfChange,
    ],
    [
      'a filter in a file that is included',
      () => {
        appendFileSync(config(), '[include]\n\tpath = one\n')
        writeFileSync(join(repository, '.git/one'), '[include]\n\tpath = ~/two\n')
        filterIn(join(home, 'two'), 'clean')
        // Plain git, as the tests run it, has its home in the repository.
        filterIn(join(repository, 'two'), 'clean')
        writeFileSync(join(repository, '.git/info/exclude'), 'two\n')
      },
      statusOfChange,
    ],
    [
      'a filter in a file that is included for worktrees only',
      () => {
        appendFileSync(config(), '[includeIf "gitdir:**/worktrees/**"]\n\tpath = one\n')
        filterIn(join(repository, '.git/one'), 'smudge')
      },
      addWorktree,
    ],
    [
      'a filter in a file that is included for Baton’s branches only',
      () => {
        appendFileSync(config(), '[includeIf "onbranch:baton/**"]\n\tpath = one\n')
        filterIn(join(repository, '.git/one'), 'smudge')
      },
      addWorktree,
    ],
  ]

  test.each(vectors)('is not run: %s', async (_what, plant, trigger) => {
    plant()
    trigger()
    expect(hasRun()).toBe(true)
    rmSync(join(home, 'ran'))
    const { saved, cleaned } = await makeRecordAndClean()
    expect(hasRun()).toBe(false)
    expect(saved.committedFiles + saved.leftOutCount).toBe(1)
    expect(cleaned).toMatchObject({ isRemoved: true, why: null })
  })

  test('is not run: a filter in the settings of a worktree', async () => {
    const { cleaned } = await makeRecordAndClean((root) => {
      git(repository, 'config', 'extensions.worktreeConfig', 'true')
      filterIn(join(repository, '.git/worktrees/gen-1/config.worktree'), 'clean')
      statusOfChange(root)
      expect(hasRun()).toBe(true)
      rmSync(join(home, 'ran'))
    })
    expect(hasRun()).toBe(false)
    expect(cleaned).toMatchObject({ isRemoved: true })
  })

  test('is not run: a filter in the settings of a repository within it', async () => {
    const { cleaned, folder } = await makeRecordAndClean((root) => {
      const inner = makeRepository(join(root, 'inner'), {
        'a.txt': 'one\n',
        '.gitattributes': '* filter=evil\n',
      })
      git(root, 'add', 'inner')
      commit(root, {}, 'with another in it')
      filterIn(join(inner, '.git/config'), 'clean')
      put(inner, 'a.txt', 'two\n')
      plainly(root, 'status')
      expect(hasRun()).toBe(true)
      rmSync(join(home, 'ran'))
    })
    expect(hasRun()).toBe(false)
    expect(cleaned).toMatchObject({ isRemoved: false, why: 'it has submodules' })
    expect(readFileSync(join(folder.path, 'inner/a.txt'), 'utf8')).toBe('two\n')
  })

  test('is not run: a program that fetches missing objects', async () => {
    const blob = git(repository, 'rev-parse', 'HEAD:a.txt')
    rmSync(join(repository, '.git/objects', blob.slice(0, 2), blob.slice(2)), { force: true })
    for (const [key, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'evil'],
      ['remote.evil.promisor', 'true'],
      // One that passed its input on would wait for git, and git for it.
      ['remote.evil.url', `ext::${payload(join(home, 'brings'), 'exit 1')}`],
      ['protocol.ext.allow', 'always'],
    ] as const)
      git(repository, 'config', key, value)
    plainly(repository, 'cat-file', '-p', blob)
    expect(hasRun()).toBe(true)
    rmSync(join(home, 'ran'))
    await expect(inWorktree()).rejects.toThrow('git could not create a worktree')
    await sweepWorktrees(ours, join(home, '.baton'), async () => false)
    expect(hasRun()).toBe(false)
  })

  test('is not run: any other program that git has a setting for', async () => {
    const program = payload()
    put(repository, '.git/info/attributes', '*.txt filter=evil diff=evil merge=evil\n')
    for (const key of [
      ...['core.sshCommand', 'core.pager', 'core.editor', 'core.askPass', 'core.gitProxy', 'sequence.editor'],
      ...['core.alternateRefsCommand', 'credential.helper', 'gpg.program', 'gpg.ssh.program', 'pager.status'],
      ...[
        'diff.external',
        'diff.evil.command',
        'diff.evil.textconv',
        'merge.evil.driver',
        'difftool.evil.cmd',
      ],
      ...[
        'interactive.diffFilter',
        'uploadpack.packObjectsHook',
        'remote.origin.uploadpack',
        'trailer.x.cmd',
      ],
    ])
      git(repository, 'config', key, program)
    for (const [key, value] of [
      ['alias.status', `!${program}`],
      ['alias.worktree', `!${program}`],
      ['commit.gpgSign', 'true'],
      ['submodule.recurse', 'true'],
      ['status.submoduleSummary', 'true'],
      ['diff.submodule', 'diff'],
      ['remote.origin.url', `ext::${program}`],
      ['protocol.ext.allow', 'always'],
      [`url.ext::${program}.insteadOf`, 'https://'],
    ] as const)
      git(repository, 'config', key, value)
    const { cleaned } = await makeRecordAndClean()
    expect(hasRun()).toBe(false)
    expect(cleaned).toMatchObject({ isRemoved: true })
  })

  test('does not direct Baton to files elsewhere', async () => {
    const elsewhere = join(home, 'elsewhere')
    mkdirSync(elsewhere)
    git(repository, 'config', 'core.worktree', elsewhere)
    await expect(inWorktree()).rejects.toThrow(
      `${repository} is outside the files of its repository, which are at ${elsewhere}.`,
    )
    expect(readdirSync(elsewhere)).toEqual([])
  })

  test.each([
    [
      'a pipe',
      (file: string) => execFileSync('sh', ['-c', 'mkfifo "$0"', file]),
      /^The repository at .* which is not a regular file\.$/,
    ],
    ['no settings', (file: string) => writeFileSync(file, '[broken'), /which cannot be read\.$/],
  ])('is refused when what it includes is %s', async (_what, make, sentence) => {
    make(join(repository, '.git/one'))
    // For nothing here: only git itself could say when it applies.
    appendFileSync(config(), '[includeIf "onbranch:never"]\n\tpath = one\n')
    await expect(inWorktree()).rejects.toThrow(sentence)
  })
})

describeGit('what the user of this machine has set up', () => {
  const shout = (path: string) => {
    writeFileSync(path, `#!/bin/sh\ntr a-z A-Z\n`)
    chmodSync(path, 0o755)
    return path
  }

  test('is used, even if a repository says otherwise', async () => {
    writeFileSync(join(home, '.gitconfig'), `[filter "evil"]\n\tsmudge = ${shout(join(home, 'shout'))}\n`)
    filterIn(config(), 'smudge')
    const { path } = await inWorktree()
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('ONE\n')
    expect(hasRun()).toBe(false)
  })
})

describe('a git that does not end', () => {
  /** A git that is a script, whose children can be identified by `mark`. */
  function fakeGit(script: string): string {
    const folder = join(home, 'bin')
    mkdirSync(folder)
    writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\n`)
    chmodSync(join(folder, 'git'), 0o755)
    return folder
  }
  const isLeft = (mark: string) =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .some((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark)
        } catch {
          return false
        }
      })
  const mark = () => `86400.${process.pid}${Date.now()}`

  test.each([
    ['by itself', ''],
    ['even if requested', `trap '' TERM`],
  ])('%s is ended at its time limit, with all it started', async (_how, trap) => {
    const sleeping = mark()
    const PATH = fakeGit(`${trap}\n/bin/sleep ${sleeping}\n/bin/sleep ${sleeping}`)
    const hanging = gitWith({ PATH, HOME: home }, { longestMs: 200, graceMs: 200 })
    await expect(hanging(home, ['status'])).rejects.toThrow(`git status took longer than 0.2 s in ${home}.`)
    await expect(hanging(home, ['rev-parse'], 600_000)).rejects.toThrow(
      'git rev-parse took longer than 0.2 s',
    )
    await until(async () => !isLeft(sleeping))
  })

  test('because it never stops printing is cut off', async () => {
    const PATH = fakeGit(`exec /bin/cat /dev/zero`)
    const { code, stdout } = await gitWith({ PATH, HOME: home })(home, ['rev-parse'])
    expect([code, stdout.length]).toEqual([null, 64 * 1024 * 1024])
  })
})
