import { expect, test } from 'vitest'
import type { LiveEvent } from '../src/live/card.ts'
import { changeWords } from '../src/things/task/activity/change-words.ts'
import { actorName, entriesOf } from '../src/things/task/activity/entries.ts'
import { editorLink } from '../src/things/task/editor-link.ts'
import { type Draft, draftOfNext, EMPTY_DRAFT, patchOf, problemsIn } from '../src/things/task/form/draft.ts'

const owner = { kind: 'key', id: 'k-1', name: 'owner' } as const
const event = (type: string, payload: Record<string, unknown> = {}, by: LiveEvent['by'] = owner) =>
  ({ seq: 1, type, payload, by, at: '2026-01-01T00:00:00Z', generation: 1 }) as unknown as LiveEvent
const said = (type: string, payload: Record<string, unknown> = {}, by?: LiveEvent['by']) =>
  entriesOf([event(type, payload, by)])[0]

test('a change says from what to what, where that is known', () => {
  const changes = {
    priority: { from: 5, to: 8 },
    onlyAgent: { from: null, to: 'beta' },
    tags: { from: ['a'], to: [] },
    title: { to: 'New' },
    maxRetries: { from: 3, to: 3 },
  }
  const fields = [...Object.keys(changes), 'description']
  expect(changeWords({ fields, changes })).toBe(
    'changed priority from 5 to 8, agent from any to beta, tags from a to none, title to “New”, description',
  )
  expect(changeWords({ fields: ['dependsOn'], removedDependencies: ['x', 'y'] })).toBe(
    'made it no longer wait for 2 other tasks',
  )
  expect(changeWords({ fields: ['maxRetries'], changes }), 'saved as it was').toBe(
    'saved the task without a change',
  )
})

test('questions, answers, verdicts and reasons are there in full, with who gave them', () => {
  const alpha = { kind: 'agent', id: 'alpha', name: 'alpha' } as const
  const asked = said('task_human_review_requested', { question: 'Which?', options: ['a', 'b'] }, alpha)
  expect(asked).toMatchObject({ who: alpha, words: 'asked', text: 'Which?', options: ['a', 'b'] })
  const answered = said('task_answered', { question: 'Which?', answer: 'a' })
  expect(answered).toMatchObject({ who: owner, quoted: 'Which?', text: 'a' })
  expect(said('task_human_rejected', { comment: 'Too long.', attempt: 1 })).toMatchObject({
    ...{ who: owner, words: 'rejected the result', text: 'Too long.' },
  })
  const verdict = { verdict: 'No tests.', verifier: 'rev', score: 0.2, attempt: 1 }
  expect(said('task_verification_failed', verdict)).toMatchObject({
    ...{ who: null, words: 'rev rejected the result, score 0.2', text: 'No tests.' },
  })
  expect(said('task_cancelled', { reason: 'Not needed.' })).toMatchObject({ who: owner, text: 'Not needed.' })
  expect(entriesOf([event('task_progress'), event('claim_renewed')]), 'noise').toEqual([])
  expect([owner, { kind: 'system', id: null, name: null } as const].map(actorName)).toEqual([
    'owner',
    'Baton',
  ])
})

test('a long comment is read from the thread, a short one from its event', () => {
  const comment = { commentId: 'c-1', author: 'key:k-1', preview: 'Hi', replyTo: null }
  expect(said('comment_added', { ...comment, isWhole: true })).not.toHaveProperty('longComment')
  expect(said('comment_added', { ...comment, isWhole: false })).toMatchObject({ longComment: 'c-1' })
  expect(said('comment_added', { ...comment, toHolder: true })?.words).toBe('told the agent')
})

test('an edit sends only what was changed', () => {
  const up = (id: string) => ({ id, words: id })
  const before: Draft = {
    ...EMPTY_DRAFT,
    title: 'A',
    taskType: 'docs',
    tags: 'x, y',
    dependsOn: [up('1'), up('2')],
  }
  expect(patchOf(before, { ...before })).toEqual({})
  expect(patchOf(before, { ...before, tags: 'x,y', title: ' A ' }), 'the same in other words').toEqual({})
  const after = { ...before, description: 'B', agent: '', priority: '9', dependsOn: [up('2'), up('3')] }
  expect(patchOf({ ...before, agent: 'beta' }, after)).toEqual({
    ...{ description: 'B', agent: null, priority: 9, dependsOn: ['3'], removeDependsOn: ['1'] },
  })
  const refused = { errors: [{ field: 'removeDependsOn[0]', message: 'is not a dependency of this task' }] }
  expect(problemsIn(refused).byField).toEqual({ dependsOn: 'is not a dependency of this task' })
  expect(draftOfNext({ ...before, project: 'shop' })).toMatchObject({
    title: '',
    tags: 'x, y',
    project: 'shop',
  })
})

test('a folder is linked only on the machine that it is on', () => {
  expect(editorLink('vscode', 'localhost', '/srv/work/a b')).toBe('vscode://file/srv/work/a%20b')
  expect(editorLink('cursor', '127.0.0.1', 'C:\\work')).toBe('cursor://file/C:/work')
  expect(editorLink('vscode', 'baton.example.com', '/srv/work')).toBeNull()
  expect(editorLink('none', 'localhost', '/srv/work')).toBeNull()
})

test('a reason that is in the thread as well is shown once, with the act', () => {
  const told = event('comment_added', { commentId: 'c-1', preview: 'Too long.', isWhole: true })
  const rejected = event('task_human_rejected', { comment: 'Too long.', attempt: 1 })
  expect(entriesOf([told, rejected]).map(({ words }) => words)).toEqual(['rejected the result'])
  const later = { ...rejected, at: '2026-01-02T00:00:00Z' }
  expect(entriesOf([told, later])).toHaveLength(2)
})

test('a reply quotes what it replies to', () => {
  const first = event('comment_added', { commentId: 'c-1', preview: 'Why?', isWhole: true })
  const said = { commentId: 'c-2', preview: 'Because.', replyTo: 'c-1', isWhole: true }
  expect(entriesOf([first, event('comment_added', said)])[1]).toMatchObject({
    ...{ quoted: 'Why?', text: 'Because.' },
  })
})
