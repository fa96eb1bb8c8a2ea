import { Fragment, type ReactNode, useMemo } from 'react'
import { DEEPEST } from './markdown-bounds.ts'
import { type Root, treeOf } from './markdown-read.ts'

type Nodes = Root['children'][number]
type Parents = Extract<Nodes, { children: unknown[] }> | Root

export function MarkdownTree({ text }: { text: string }) {
  const tree = useMemo(() => treeOf(text), [text])
  return tree ? childrenOf(tree, 0) : <p className="whitespace-pre-wrap">{text}</p>
}

const childrenOf = (node: Parents, depth: number): ReactNode =>
  node.children.map((child, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the tree is rebuilt with each text
    <Fragment key={place}>{draw(child, depth + 1)}</Fragment>
  ))

/** Only http(s) leads out of the app, in a page that cannot reach back into it. */
function Link({ url, children }: { url: string; children: ReactNode }) {
  if (!/^https?:\/\//i.test(url)) return <>{children}</>
  return (
    <a className="text-accent underline" href={url} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  )
}

const HEADING_SIZES = ['text-page', 'text-title', 'text-body', 'text-body', 'text-row', 'text-row']

function draw(node: Nodes, depth: number): ReactNode {
  if (depth > DEEPEST) return null
  switch (node.type) {
    case 'text':
      return node.value
    case 'html':
      return <span className="whitespace-pre-wrap">{node.value}</span>
    case 'image':
    case 'imageReference':
      return node.alt || 'image'
    case 'break':
      return <br />
    case 'emphasis':
      return <em>{childrenOf(node, depth)}</em>
    case 'strong':
      return <strong className="font-semibold">{childrenOf(node, depth)}</strong>
    case 'delete':
      return <del>{childrenOf(node, depth)}</del>
    case 'inlineCode':
      return <code className="rounded-chip bg-hover px-1 py-0.5 font-mono text-row">{node.value}</code>
    case 'link':
      return <Link url={node.url}>{childrenOf(node, depth)}</Link>
    default:
      return drawBlock(node, depth)
  }
}

function drawBlock(node: Nodes, depth: number): ReactNode {
  switch (node.type) {
    case 'paragraph':
      return <p>{childrenOf(node, depth)}</p>
    case 'heading': {
      // The page has the first heading: those of texts begin below it.
      const Tag = `h${Math.min(node.depth + 2, 6)}` as 'h3'
      return <Tag className={`font-semibold ${HEADING_SIZES[node.depth - 1]}`}>{childrenOf(node, depth)}</Tag>
    }
    case 'blockquote':
      return (
        <blockquote className="flex flex-col gap-2 border-l-2 border-line pl-3 text-muted">
          {childrenOf(node, depth)}
        </blockquote>
      )
    case 'code':
      return (
        <pre
          className="overflow-x-auto rounded-card border border-line bg-sunken p-3 font-mono text-row"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
          tabIndex={0}
        >
          {node.value}
        </pre>
      )
    case 'list': {
      const Tag = node.ordered ? 'ol' : 'ul'
      return (
        <Tag
          className={`flex flex-col gap-1 pl-6 ${node.ordered ? 'list-decimal' : 'list-disc'}`}
          {...(node.ordered && node.start != null ? { start: node.start } : {})}
        >
          {childrenOf(node, depth)}
        </Tag>
      )
    }
    case 'listItem':
      return (
        <li className={node.checked == null ? '' : '-ml-5 list-none'}>
          {node.checked != null && <span className="mr-1">{node.checked ? '☑' : '☐'}</span>}
          {node.spread
            ? childrenOf(node, depth)
            : node.children.map((child, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: the tree is rebuilt with each text
                <Fragment key={place}>
                  {child.type === 'paragraph' ? childrenOf(child, depth) : draw(child, depth + 1)}
                </Fragment>
              ))}
        </li>
      )
    case 'thematicBreak':
      return <hr className="border-line" />
    case 'table':
      return drawTable(node, depth)
    default:
      return 'children' in node ? childrenOf(node, depth) : null
  }
}

function drawTable(node: Extract<Nodes, { type: 'table' }>, depth: number): ReactNode {
  const [head, ...rows] = node.children
  const cells = (row: typeof head, Tag: 'th' | 'td') =>
    row?.children.map((cell, place) => (
      <Tag
        className={`border-b border-line px-2 py-1 text-left ${Tag === 'th' ? 'font-semibold' : ''}`}
        // biome-ignore lint/suspicious/noArrayIndexKey: the tree is rebuilt with each text
        key={place}
      >
        {childrenOf(cell, depth)}
      </Tag>
    ))
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
    <div className="overflow-x-auto" tabIndex={0}>
      <table className="text-row">
        <thead>
          <tr>{cells(head, 'th')}</tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above
            <tr key={place}>{cells(row, 'td')}</tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
