import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useGo } from '../../links.tsx'
import { Button } from '../../parts/button.tsx'
import { Copyable } from '../../parts/copyable.tsx'

/** Other ways to begin: a goal, a task, your own program. */
export function Beginnings({ dataFolder }: { dataFolder: string | null }) {
  const go = useGo()
  const { routesByPath } = useRouter()
  const [isConnecting, setConnecting] = useState(false)
  const has = (route: string) => Object.hasOwn(routesByPath, route)
  return (
    <>
      <div className="flex flex-wrap items-center gap-2 border-t border-line pt-3">
        <span className="mr-1 text-row text-muted">Or begin with</span>
        {has('/missions/new') && (
          <Button icon="missions" onClick={() => go('/missions/new')} size="small">
            A goal
          </Button>
        )}
        {has('/board') && (
          <Button icon="plus" onClick={() => go('/board?new=task')} size="small">
            A task
          </Button>
        )}
        <Button
          aria-expanded={isConnecting}
          icon="terminal"
          onClick={() => setConnecting(!isConnecting)}
          size="small"
        >
          Your own program
        </Button>
      </div>
      {isConnecting && (
        <div className="flex flex-col gap-2">
          <p className="text-row text-muted">
            Anything that speaks HTTP can work here. These five lines of bash wait for the next task and
            submit a result{dataFolder === null ? '; write your key in the first one.' : '.'} TypeScript has a
            typed client: baton/client.
          </p>
          {dataFolder !== null && (
            <p className="text-row text-muted">
              The key is in the data folder of this server,{' '}
              <code className="font-mono wrap-anywhere">{dataFolder}</code>. It is that of the first
              workspace.
            </p>
          )}
          <Copyable isBlock text={scriptFor(location.origin, dataFolder)} />
        </div>
      )}
    </>
  )
}

/** Claims the next task, waits up to 30 s for one, and submits a result. */
const scriptFor = (origin: string, dataFolder: string | null) =>
  [
    `KEY=${keyIn(dataFolder)}; API=${origin}/api/v1`,
    `post() { curl -s -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' "$API$1" -d "$2"; }`,
    `CLAIM=$(post /claims/next '{"agent":"my-agent","session":"s-1","waitMs":30000}')`,
    `ID=$(echo "$CLAIM" | sed 's/.*"taskId":"\\([^"]*\\)".*/\\1/'); GEN=$(echo "$CLAIM" | sed 's/.*"generation":\\([0-9]*\\).*/\\1/')`,
    `post /tasks/$ID/submit "{\\"generation\\":$GEN,\\"session\\":\\"s-1\\",\\"result\\":{\\"text\\":\\"done\\"}}"`,
  ].join('\n')

const keyIn = (dataFolder: string | null) =>
  dataFolder === null ? 'YOUR-KEY' : `$(cat '${dataFolder.replaceAll("'", `'\\''`)}/owner-key')`
