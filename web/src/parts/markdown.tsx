import { lazy, Suspense } from 'react'

const MarkdownTree = lazy(() =>
  import('./markdown-tree.tsx').then(({ MarkdownTree }) => ({ default: MarkdownTree })),
)

/** Markdown as elements. HTML and images in it stay text; its reader is loaded when it is first needed. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="flex min-w-0 flex-col gap-3 text-body break-words">
      <Suspense fallback={<p className="whitespace-pre-wrap">{text}</p>}>
        <MarkdownTree text={text} />
      </Suspense>
    </div>
  )
}
