import { fromMarkdown } from 'mdast-util-from-markdown'
import { gfmFromMarkdown } from 'mdast-util-gfm'
import { gfm } from 'micromark-extension-gfm'
import { isReadableMarkdown } from './markdown-bounds.ts'

export type Root = ReturnType<typeof fromMarkdown>

/** A text as a tree; null: that would take too long, and it is shown as it is. */
export function treeOf(text: string): Root | null {
  if (!isReadableMarkdown(text)) return null
  return fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] })
}
