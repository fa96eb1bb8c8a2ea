import { useState } from 'react'
import { Loading } from '../../parts/loaded.tsx'
import type { PromptPreviewing } from './use-prompt-preview.ts'

/** What the agent would read, with example values; sensitive ones are named and not shown. */
export function PromptPreview(props: {
  preview: PromptPreviewing
  heading: 'h2' | 'h3'
  /** It scrolls in itself: there is more of the form below it. */
  isBounded?: boolean
}) {
  const { preview, heading: Heading, isBounded = false } = props
  const { isDefault, answer, problems, error, retry } = preview
  const [shown, setShown] = useState<string | null>(null)
  if (answer && answer.prompt !== null && answer.prompt !== shown) setShown(answer.prompt)
  const isOld = problems.length > 0
  return (
    <section aria-label="Preview" className="flex min-w-0 flex-col gap-3">
      <Heading className="text-row leading-7 font-medium">
        {isDefault ? 'Preview of the default prompt, with a sample task' : 'Preview with a sample task'}
      </Heading>
      {!answer ? (
        <Loading read={{ data: answer, error, refetch: retry }} rowHeight={24} rows={10} />
      ) : (
        <>
          {isOld && (
            <p className="text-row text-muted">
              {shown === null
                ? 'The preview returns when what is underlined is fixed.'
                : 'As it was before the problem.'}
            </p>
          )}
          {shown !== null && (
            <pre
              className={`min-w-0 rounded-card border border-line bg-raised px-3 py-2 font-mono text-row leading-6 break-words whitespace-pre-wrap ${isOld ? 'text-muted' : ''} ${isBounded ? 'max-h-80 overflow-y-auto' : ''}`}
              {...(isBounded ? { tabIndex: 0 } : {})}
            >
              {shown}
            </pre>
          )}
        </>
      )}
    </section>
  )
}
