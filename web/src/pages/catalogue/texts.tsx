import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'
import { Countdown } from '../../parts/countdown.tsx'
import { Diff } from '../../parts/diff.tsx'
import { Duration } from '../../parts/duration.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Markdown } from '../../parts/markdown.tsx'
import { Moment } from '../../parts/moment.tsx'
import { Money } from '../../parts/money.tsx'
import { ProblemBox } from '../../parts/problem.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { Tokens } from '../../parts/tokens.tsx'
import { Sample } from './sample.tsx'

const STARTED = Date.now()
const MARKDOWN = `## What was done
The **login form** keeps what was typed; see \`src/login.ts\` and [the issue](https://example.org/1).

1. One
2. Two <script>alert(1)</script> and [not a link](javascript:alert(1))

| test | time |
|---|---|
| login | 41 s |

- [x] tests pass

> It was slow.

\`\`\`ts
const a = 1
\`\`\``

export function Texts() {
  return (
    <>
      <Sample name="Amounts and times">
        <span className="text-figure font-semibold">
          <Money usd="18.2" />
        </span>
        <Money usd="0.0138" />
        <Money usd={null} />
        <Tokens count={48_123} />
        <Moment at={STARTED - 480_000} />
        <Duration ms={190_000} />
        <Duration since={STARTED} />
        <Countdown to={STARTED + 34_000} />
        <Copyable shown="7f3a" text="0198f3a2-7c1d-7f3a-9c1e-2b1f0c9d8e7f" />
      </Sample>
      <Sample name="Type">
        <div className="flex flex-col gap-1">
          <p className="text-figure font-semibold">4,775 done</p>
          <p className="text-page font-semibold">Page title 20/28</p>
          <p className="text-title font-semibold">Title 16/24</p>
          <p className="text-body">Body 14/20. A log is a truth, a poll is a rumour.</p>
          <p className="text-row text-muted">Row 13/20, muted</p>
          <p className="text-label text-faint">Label 12/16, faint</p>
          <p className="font-mono text-row">$ npm test 0123456789</p>
        </div>
      </Sample>
      <Sample name="Markdown">
        <Markdown text={MARKDOWN} />
      </Sample>
      <Sample name="Diff">
        <div className="w-full min-w-0">
          <Diff after={'a\nb changed\nc\nnew\n'} before={'a\nb\nc\n'} />
        </div>
      </Sample>
      <Sample name="Problem">
        <div className="w-full">
          <ProblemBox
            error={{
              status: 409,
              code: 'STALE_GENERATION',
              title: 'A newer claim holds this task',
              detail: 'dev-2 holds it, attempt 4.',
            }}
            onRetry={() => {}}
          />
        </div>
      </Sample>
      <Sample name="Empty">
        <Empty
          action={<Button kind="primary">Make one</Button>}
          command="curl -X POST localhost:4400/api/v1/tasks"
          drawing="columns"
          text="Tasks appear here when a person, a mission or an agent makes them."
          title="No tasks"
        />
      </Sample>
      <Sample name="Skeleton">
        <Skeleton rows={3} />
      </Sample>
    </>
  )
}
