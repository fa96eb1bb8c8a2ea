import { describe, expect, test } from 'vitest'
import { treeOf } from '../src/parts/markdown-read.ts'

/** Texts that would stop the page are shown as they are; all others are read as Markdown. */

const filled = (piece: string, length = 99_000) => piece.repeat(Math.floor(length / piece.length))

describe('is not read as Markdown', () => {
  test.each([
    ['forty thousand quotes in each other', '>'.repeat(40_000)],
    ['the same with blanks', '> '.repeat(40_000)],
    ['lists in each other', '- '.repeat(20_000)],
    ['numbered lists in each other', '1. '.repeat(20_000)],
    ['quotes and lists in turn', '>- '.repeat(20_000)],
    [
      'lists that go deeper line by line',
      Array.from({ length: 300 }, (_, i) => `${'  '.repeat(i)}- a`).join('\n'),
    ],
    ['many items', filled('- a\n')],
    ['many items with blank lines', filled('- a\n\n')],
    ['many quotes, each deep', filled(`${'> '.repeat(30)}a\n`)],
    ['closing brackets', filled(']')],
    ['opening brackets', filled('[')],
    ['links that do not end', filled('[a](')],
    ['stars', filled('*a ')],
    ['lines below words', filled('a_ ')],
    ['backticks', filled('`a')],
    ['angles', filled('<a ')],
    ['rows of a table', filled('|a|b\n')],
    ['headings', filled('# a\n', 20_000)],
    ['addresses', filled('a@b.c ')],
    ['a megabyte of words', filled('some words ', 1_000_000)],
  ])('%s', (_, text) => expect(treeOf(text)).toBeNull())
})

describe('is read as Markdown', () => {
  test.each([
    ['nothing', ''],
    ['ten levels of quotes', `${'> '.repeat(10)}a`],
    ['a list in a list in a list', '- a\n  - b\n    - c\n      1. d'],
    ['code that is indented far', `\`\`\`\n${' '.repeat(200)}- a\n\`\`\`\n\n${' '.repeat(40)}words`],
    ['a table', '|a|b|\n|-|-|\n|1|2|'],
    [
      'a long report',
      filled(
        '## A heading\n\nSome **bold** words, `code` and a [link](https://example.org).\n\n- a\n- b\n\n',
        12_000,
      ),
    ],
  ])('%s', (_, text) => expect(treeOf(text)).toMatchObject({ type: 'root' }))
})
