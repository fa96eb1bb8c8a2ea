import { useEffect, useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { copyText } from '../../parts/copyable.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { bytesText } from '../../parts/wording.ts'
import { type Invocation, useInvocation } from './use-run.ts'

/** What the agent of a run was given: its prompt, the command or the request, and the names of what came with it. */
export function ToldToRun({ runId }: { runId: string }) {
  return (
    <section aria-label="What was it told?" className="mt-6 max-w-text">
      <h2 className="mb-2 text-title font-semibold">What was it told?</h2>
      <Loaded read={useInvocation(runId)} rows={4}>
        {(told) => <ToldTexts told={told} />}
      </Loaded>
    </section>
  )
}

const WITHOUT: Record<Exclude<Invocation['status'], 'available'>, string> = {
  not_started: 'Nothing yet: the run has not started.',
  unavailable: 'It is kept as long as the log, and the log of this run was deleted.',
}

function ToldTexts({ told }: { told: Invocation }) {
  const { status, prompt, systemPrompt, program, request } = told
  if (status !== 'available') return <p className="text-row text-muted">{WITHOUT[status]}</p>
  return (
    <div className="flex flex-col gap-4">
      {prompt && <TextBlock label="Prompt" note={cutNote(prompt)} text={prompt.text} />}
      {systemPrompt && (
        <TextBlock label="System prompt" note={cutNote(systemPrompt)} text={systemPrompt.text} />
      )}
      {program && (
        <TextBlock
          label="Command"
          note={program.isCut ? 'Long arguments are shown in part' : null}
          text={commandLine(program)}
        />
      )}
      {request && <TextBlock label="Request" note={null} text={requestLine(request)} />}
      {program && <Names label="Environment" names={program.env} />}
      {request && <Names label="Headers" names={request.headers} />}
    </div>
  )
}

const cutNote = ({ bytes, isCut }: NonNullable<Invocation['prompt']>) =>
  isCut ? `Only the beginning of ${bytesText(bytes)} is kept` : null

function TextBlock({ label, text, note }: { label: string; text: string; note: string | null }) {
  const [isCopied, setCopied] = useState(false)
  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [isCopied])
  return (
    <div>
      <div className="mb-1 flex min-h-7 flex-wrap items-center gap-x-3">
        <h3 className="text-row font-medium">{label}</h3>
        {note && <p className="text-row text-muted">{note}</p>}
        <Button
          aria-label={`Copy ${label.toLowerCase()}`}
          className="ml-auto"
          icon={isCopied ? 'check' : 'copy'}
          kind="quiet"
          onClick={async () => setCopied(await copyText(text))}
          size="small"
        >
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      </div>
      <pre
        className="focus-inside max-h-120 overflow-y-auto rounded-card border border-line bg-sunken px-3 py-2 font-mono text-row wrap-anywhere whitespace-pre-wrap"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard
        tabIndex={0}
      >
        {text}
      </pre>
    </div>
  )
}

/** Values are kept by nobody. */
function Names({ label, names }: { label: string; names: readonly string[] }) {
  if (names.length === 0) return null
  return (
    <div>
      <h3 className="mb-1 text-row font-medium">
        {label} <span className="font-normal text-muted">names only; values are not kept</span>
      </h3>
      <p className="font-mono text-row wrap-anywhere text-muted">{names.join(' ')}</p>
    </div>
  )
}

/** What needs no quotes in a shell. */
const PLAIN = /^[\w@%+=:,./-]+$/

const quoted = (text: string) => (PLAIN.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`)

/** The command as it would be typed. Nothing is typed: programs are started without a shell. */
const commandLine = ({ command, args }: NonNullable<Invocation['program']>) =>
  [command, ...args].map(quoted).join(' ')

const requestLine = ({ method, url }: NonNullable<Invocation['request']>) => `${method} ${url}`
