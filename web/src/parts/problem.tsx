import { Button } from './button.tsx'
import { copyText } from './copyable.tsx'
import { explain } from './explain.ts'
import { Icon } from './icon.tsx'

/** What went wrong in words, and the next step; a copy has its code, too. The rest of the page stays. */
export function ProblemBox({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { title, detail, code, canRetry } = explain(error)
  return (
    <div className="flex gap-3 rounded-card border border-line bg-raised p-4" role="alert">
      <Icon className="mt-0.5 text-bad" name="warning" />
      <div className="min-w-0 flex-1">
        <p className="text-body font-medium break-words">{title}</p>
        {detail && <p className="mt-0.5 text-row break-words text-muted">{detail}</p>}
        <div className="mt-3 flex flex-wrap gap-2">
          {onRetry && (
            <Button icon="retry" kind={canRetry ? 'primary' : 'plain'} onClick={onRetry} size="small">
              Try again
            </Button>
          )}
          <Button
            icon="copy"
            kind="quiet"
            onClick={() => copyText([title, detail, code, location.href].filter(Boolean).join('\n'))}
            size="small"
          >
            Copy
          </Button>
        </div>
      </div>
    </div>
  )
}
