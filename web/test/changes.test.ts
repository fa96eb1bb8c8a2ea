import { parsePatch } from 'diff'
import { describe, expect, test } from 'vitest'
import { patchPart } from '../src/things/changes/patch-part.ts'
import { judgedOf } from '../src/things/changes/review.tsx'
import { gapsOf, gapsText, leftOutWords } from '../src/things/changes/work-words.ts'
import { attemptsIn } from '../src/things/task/code.tsx'

/** Diffs and left-out work, in words and parts. */

const HEAD = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n'
const PATCH = `${HEAD}@@ -1,3 +1,4 @@ function a() {\n one\n-two\n+2\n+2b\n three\n@@ -10,2 +11,2 @@\n-ten\n+10\n eleven\n`

const linesOf = (patch: string) => parsePatch(patch)[0]!.hunks.flatMap(({ lines }) => lines)

describe('a part of a diff', () => {
  test('is the whole diff when it is short enough', () => {
    const { patch, linesLeft } = patchPart(PATCH, 100)
    expect(linesOf(patch)).toEqual(linesOf(PATCH))
    expect(linesLeft).toBe(0)
  })

  test.each([1, 2, 3, 4, 5, 6, 7])(
    'of %i lines can be read as a diff, and says how many are left',
    (most) => {
      const { patch, linesLeft } = patchPart(PATCH, most)
      expect(linesOf(patch)).toEqual(linesOf(PATCH).slice(0, most))
      expect(linesLeft).toBe(8 - most)
    },
  )

  test('is read although the server cut it in the middle of a hunk', () => {
    const cut = PATCH.slice(0, PATCH.indexOf('+2b'))
    expect(() => parsePatch(cut)).toThrow()
    expect(linesOf(patchPart(cut, 100).patch)).toEqual([' one', '-two', '+2'])
  })

  test('keeps lines that look like heads, empty ones, and the mark of a missing newline', () => {
    const odd = `${HEAD}@@ -1,3 +1,3 @@\n--- a\n+++ b\n\n-@@ -1 +1 @@\n+x\n\\ No newline at end of file\n`
    expect(linesOf(patchPart(odd, 100).patch)).toEqual([
      ...['--- a', '+++ b', ' ', '-@@ -1 +1 @@', '+x'],
      '\\ No newline at end of file',
    ])
  })
})

const folder = (more: object) => ({ path: '/x', worktree: null, ...more })

describe('what work lacks', () => {
  test('is nothing for a run that saved everything', () => {
    const saved = { commit: 'c', committedFiles: 1, leftOut: [], leftOutCount: 0, unfinished: null }
    expect(gapsText(gapsOf(folder({ saved })))).toBeNull()
    expect(gapsText(gapsOf(folder({})))).toBeNull()
  })

  test('names left-out files with the reason, and counts the others', () => {
    const leftOut = [{ path: 'big.bin', why: 'too_large' as const, bytes: 12_000_000 }]
    expect(leftOutWords(leftOut[0]!)).toBe('too large (12 MB)')
    expect(leftOutWords({ path: 'dist/', why: 'too_many', files: 2_500 })).toBe(
      'too many new files (2,500 files)',
    )
    const saved = { commit: 'c', committedFiles: 1, leftOut, leftOutCount: 3, unfinished: null }
    expect(gapsText(gapsOf(folder({ saved })))).toBe(
      'Left out of the commit: big.bin, too large (12 MB); and 2 files more.',
    )
  })

  test('is told together: not saved, missing, unfinished', () => {
    const unfinished = { kind: 'cherry_pick' as const, commit: 'c', ref: 'r' }
    const saved = { commit: 'c', committedFiles: 0, leftOut: [], leftOutCount: 0, unfinished }
    expect(gapsText(gapsOf(folder({ saved, missing: 'No attempt 1.' })))).toBe(
      'No attempt 1. The agent did not finish a cherry-pick.',
    )
    expect(gapsText(gapsOf(folder({ notSaved: 'disk full' })))).toBe('The work could not be saved: disk full')
  })
})

// biome-ignore lint/suspicious/noExplicitAny: only some fields matter here
const some = (list: object[]) => list as any[]

test('attempts are the last runs in worktrees of each generation, the newest first', () => {
  const worktree = { root: '/x', repository: '/r', branch: 'b', baseCommit: 'c' }
  const runs = some([
    { id: '1', generation: 1, folder: folder({ worktree }) },
    { id: '2', generation: 1, folder: folder({ worktree }) },
    { id: '3', generation: 2, folder: folder({}) },
    { id: '4', generation: 3, folder: folder({ worktree }) },
    { id: '5', generation: 3, folder: null },
    { id: '6', generation: null, folder: folder({ worktree }) },
  ])
  expect(attemptsIn(runs).map(({ id }) => id)).toEqual(['4', '2'])
})

test('the result that waits is judged, and compared with one of an earlier attempt', () => {
  const results = some([
    { generation: 1, accepted: false, submittedAt: '1' },
    { generation: 2, accepted: null, submittedAt: '2' },
    { generation: 2, accepted: false, submittedAt: '3' },
  ])
  expect(judgedOf(results, 2)).toEqual({ judged: results[1], before: results[0] })
  expect(judgedOf(results, 3)).toEqual({ judged: null, before: null })
})
